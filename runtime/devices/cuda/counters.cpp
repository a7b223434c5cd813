#include "runtime/devices/cuda/counters.h"

#include <algorithm>
#include <utility>

#include "runtime/core/base/error.h"
#include "runtime/core/base/log.h"

namespace mneme::device::cuda {

namespace {

constexpr int success = 0;
constexpr int insufficientPrivileges = 35;
constexpr int virtualInsufficientPrivileges = 40;
constexpr const char* rangeName = "kernel";

[[noreturn]] void failed(const CounterFunctions& functions, int result, const std::string& what) {
  const char* text = nullptr;
  if (functions.getResultString(result, &text) != success || !text)
    text = "unknown error";
  if (result == insufficientPrivileges || result == virtualInsufficientPrivileges)
    throw Error(ErrorCode::BackendUnavailable,
                std::string("the driver lets only administrators read hardware counters (") + text +
                    "); https://developer.nvidia.com/ERR_NVGPUCTRPERM says how to permit it");
  throw Error(ErrorCode::DeviceFailed,
              "hardware counters cannot be read: " + what + " failed with " + text);
}

template <typename Params>
void call(const CounterFunctions& functions, int (*function)(Params*), Params& params,
          const char* what) {
  if (const int result = function(&params); result != success)
    failed(functions, result, what);
}

class Passes final : public CounterPasses {
public:
  Passes(Context& context, const CounterPlan& plan)
      : functions_(counterFunctions()), context_(context), plan_(plan) {
    const ContextScope scope = context_.use();
    EnableParams enable;
    enable.context = context_.raw();
    call(functions_, functions_.enable, enable, "enabling them");
    profiler_ = enable.profiler;
    try {
      prepare();
    } catch (...) {
      disable();
      throw;
    }
  }
  Passes(const Passes&) = delete;
  Passes& operator=(const Passes&) = delete;
  ~Passes() override {
    context_.whenFreeing([&] {
      if (isStarted_)
        stop();
      disable();
    });
  }

  void begin() override {
    const ContextScope scope = context_.use();
    if (passes_++ >= plan_.passes())
      throw Error(ErrorCode::DeviceFailed,
                  "hardware counters cannot be read: CUPTI wants more than the " +
                      std::to_string(plan_.passes()) + " passes that it announced");
    RangeParams range{.profiler = profiler_};
    call(functions_, functions_.start, range, "starting a pass");
    isStarted_ = true;
    PushParams push{.profiler = profiler_, .name = rangeName};
    call(functions_, functions_.push, push, "beginning a range");
  }

  bool end() override {
    const ContextScope scope = context_.use();
    RangeParams range{.profiler = profiler_};
    call(functions_, functions_.pop, range, "ending a range");
    StopParams params{.profiler = profiler_};
    isStarted_ = false;
    call(functions_, functions_.stop, params, "ending a pass");
    return params.isAll != 0;
  }

  std::vector<double> values() override {
    const ContextScope scope = context_.use();
    DecodeParams decode{.profiler = profiler_};
    call(functions_, functions_.decode, decode, "decoding them");
    if (decode.dropped > 0)
      throw Error(ErrorCode::DeviceFailed, "hardware counters cannot be read: CUPTI dropped them");
    return plan_.evaluate(data_);
  }

private:
  void prepare() {
    DataSizeParams size{.profiler = profiler_, .names = plan_.rawNames()};
    size.count = plan_.names().size();
    call(functions_, functions_.dataSize, size, "asking for their size");
    data_.resize(size.bytes);
    PrepareDataParams data{.profiler = profiler_, .bytes = data_.size(), .data = data_.data()};
    call(functions_, functions_.prepareData, data, "preparing memory for them");
    SetConfigParams config{.profiler = profiler_};
    config.configBytes = plan_.config().size();
    config.config = plan_.config().data();
    config.dataBytes = data_.size();
    config.data = data_.data();
    call(functions_, functions_.setConfig, config, "choosing them");
  }

  void stop() noexcept {
    StopParams params{.profiler = profiler_};
    functions_.stop(&params);
  }

  void disable() noexcept {
    RangeParams range{.profiler = profiler_};
    if (functions_.disable(&range) != success)
      log(LogLevel::Warn, "CUPTI does not stop reading hardware counters");
  }

  const CounterFunctions& functions_;
  Context& context_;
  const CounterPlan& plan_;
  RangeProfiler* profiler_ = nullptr;
  std::vector<uint8_t> data_;
  size_t passes_ = 0;
  bool isStarted_ = false;
};

} // namespace

CounterPlan::CounterPlan(Context& context, const std::string& gpu, std::vector<std::string> names)
    : functions_(counterFunctions()), names_(std::move(names)) {
  for (const std::string& name : names_)
    rawNames_.push_back(name.c_str());
  const ContextScope scope = context.use();
  chooseChip(context, gpu);
  makeConfig();
}

void CounterPlan::Free::operator()(CounterHost* host) const noexcept {
  HostDeinitializeParams params{.host = host};
  counterFunctions().hostDeinitialize(&params);
}

void CounterPlan::chooseChip(Context& context, const std::string& gpu) {
  InitializeParams initialize;
  call(functions_, functions_.initialize, initialize, "starting CUPTI's profiler");
  // It says so here, and otherwise only when a pass starts.
  AvailabilityParams availability{.context = context.raw()};
  const int permitted = functions_.availability(&availability);
  if (permitted == insufficientPrivileges || permitted == virtualInsufficientPrivileges)
    failed(functions_, permitted, "");
  ChipNameParams chip{.device = static_cast<size_t>(context.device())};
  call(functions_, functions_.chipName, chip, "naming the GPU's chip");
  host_ = openHost(chip.name);
  // All at once: of those that are added one by one and need the same counter of the hardware,
  // CUPTI gives the value of the first to all.
  if (addTo(host_.get(), rawNames(), names_.size()))
    return;
  const auto unknown = std::ranges::find_if(
      rawNames_, [&](const char*& name) { return !addTo(openHost(chip.name).get(), &name, 1); });
  if (unknown == rawNames_.end())
    throw Error(ErrorCode::InvalidArgument, gpu + " cannot read these hardware counters together");
  throw Error(ErrorCode::InvalidArgument,
              gpu + " has no hardware counter '" + *unknown +
                  "'; names are those of 'ncu --query-metrics' with a roll-up behind them, as " +
                  "dram__bytes.sum");
}

CounterPlan::Host CounterPlan::openHost(const char* chip) const {
  HostInitializeParams host{.chip = chip};
  call(functions_, functions_.hostInitialize, host, "looking up those of the GPU");
  return Host(host.host);
}

bool CounterPlan::addTo(CounterHost* host, const char** names, size_t count) const noexcept {
  AddMetricsParams metrics{.host = host, .names = names, .count = count};
  return functions_.addMetrics(&metrics) == success;
}

void CounterPlan::makeConfig() {
  ConfigSizeParams size{.host = host_.get()};
  call(functions_, functions_.configSize, size, "choosing them");
  config_.resize(size.bytes);
  ConfigParams config{.host = host_.get(), .bytes = config_.size(), .image = config_.data()};
  call(functions_, functions_.config, config, "choosing them");
  PassCountParams count{.bytes = config_.size(), .image = config_.data()};
  call(functions_, functions_.passCount, count, "counting the passes");
  passes_ = count.count;
}

std::vector<double> CounterPlan::evaluate(const std::vector<uint8_t>& data) const {
  std::vector<double> values(names_.size());
  EvaluateParams params{.host = host_.get(), .data = data.data(), .dataBytes = data.size()};
  params.names = rawNames();
  params.count = names_.size();
  params.values = values.data();
  call(functions_, functions_.evaluate, params, "evaluating them");
  return values;
}

std::unique_ptr<CounterPasses> startCounters(Context& context, const CounterPlan& plan) {
  return std::make_unique<Passes>(context, plan);
}

} // namespace mneme::device::cuda
