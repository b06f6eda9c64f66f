"""asyncio tasks that never end hold their batches."""
import asyncio
import torch

model = torch.nn.Linear(64, 64).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


async def watch(batch, forever):
    await forever.wait()
    return batch


async def main():
    forever = asyncio.Event()
    tasks = []
    for step in range(60):
        x = torch.randn(128, 64, device="cuda")  # SITE
        tasks.append(asyncio.create_task(watch(x, forever)))
        await asyncio.sleep(0)
        loss = model(x).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


asyncio.run(main())
