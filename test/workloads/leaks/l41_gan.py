"""A GAN keeps its fake images with graph in an image pool that is never emptied."""
import torch


def net(*sizes):
    return torch.nn.Sequential(*[m for a, b in zip(sizes, sizes[1:]) for m in (torch.nn.Linear(a, b), torch.nn.LeakyReLU())]).cuda()


generator, critic = net(16, 128, 256), net(256, 64, 1)
for_generator = torch.optim.Adam(generator.parameters())
for_critic = torch.optim.Adam(critic.parameters())
pool = []
for step in range(50):
    real = torch.randn(64, 256, device="cuda")
    fake = generator(torch.randn(64, 16, device="cuda"))  # SITE
    pool.append(fake)  # HOLDER
    loss = critic(fake.detach()).mean() - critic(real).mean()
    for_critic.zero_grad()
    loss.backward()
    for_critic.step()
    loss = -critic(fake).mean()
    for_generator.zero_grad()
    loss.backward(retain_graph=True)
    for_generator.step()
