"""PyTorch with workers that read data, pinned memory, and a process of its own on the GPU."""

import torch
from told import tell_tensors


class Numbers(torch.utils.data.Dataset):
    """What the workers make."""

    def __len__(self) -> int:
        return 64

    def __getitem__(self, index: int) -> torch.Tensor:
        return torch.full((256,), float(index)).sin()


def squares(queue: "torch.multiprocessing.SimpleQueue") -> None:
    """Run in a process that was started anew."""
    queue.put((torch.arange(1000, device="cuda", dtype=torch.float64) ** 2).sum().item())


if __name__ == "__main__":
    loader = torch.utils.data.DataLoader(Numbers(), batch_size=16, num_workers=2, pin_memory=True)
    total = torch.zeros(256, device="cuda")
    for batch in loader:
        total += torch.softmax(batch.cuda(non_blocking=True), 1).sum(0)
    tell_tensors("batches", total)
    spawning = torch.multiprocessing.get_context("spawn")
    queue = spawning.SimpleQueue()
    child = spawning.Process(target=squares, args=(queue,))
    child.start()
    print(queue.get())
    child.join()
    print(child.exitcode)
