"""Generation by a small language model, each step of which is one CUDA graph."""

import torch
from told import tell_tensors

torch.manual_seed(0)
WIDTH, HEADS, WORDS, LENGTH = 256, 8, 512, 64


class Block(torch.nn.Module):
    """Attention to what is in a cache, and two layers."""

    def __init__(self) -> None:
        super().__init__()
        self.norms = torch.nn.ModuleList(torch.nn.LayerNorm(WIDTH) for _ in range(2))
        self.query = torch.nn.Linear(WIDTH, WIDTH)
        self.out = torch.nn.Linear(WIDTH, WIDTH)
        self.up, self.down = torch.nn.Linear(WIDTH, 4 * WIDTH), torch.nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
        """Return one step."""
        query = self.query(self.norms[0](x)).view(1, HEADS, 1, -1)
        found = torch.softmax(query @ keys.transpose(-1, -2) * 0.1, -1) @ values
        x = x + self.out(found.reshape(1, WIDTH))
        return x + self.down(torch.nn.functional.gelu(self.up(self.norms[1](x))))


blocks = torch.nn.ModuleList(Block() for _ in range(2)).cuda().eval()
embedding, head = torch.nn.Embedding(WORDS, WIDTH).cuda(), torch.nn.Linear(WIDTH, WORDS).cuda()
shape = (2, 1, HEADS, LENGTH, WIDTH // HEADS)
caches = [torch.randn(shape, device="cuda") for _ in blocks]
token = torch.zeros(1, dtype=torch.long, device="cuda")


def step() -> None:
    """Choose the next word."""
    x = embedding(token)
    for block, (keys, values) in zip(blocks, caches, strict=True):
        x = block(x, keys, values)
    token.copy_((head(x).argmax(-1) * 7 + 3) % WORDS)


with torch.no_grad():
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    token.zero_()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    token.zero_()
    words = []
    for _ in range(16):
        graph.replay()
        words.append(int(token))
print(words)
tell_tensors("last word", token)
