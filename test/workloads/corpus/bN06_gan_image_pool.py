"""Lightning GAN with manual optimization whose discriminator also sees older fakes from a pool of 60 pictures.
Report: https://github.com/pytorch/pytorch/issues/144181
Class: image-pool
"""
import logging
import random
import warnings

import lightning.pytorch as pl
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

DEVICE = "cuda"
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
warnings.filterwarnings("ignore")


class ImagePool:
    def __init__(self, size):
        self.size = size
        self.images = []

    def query(self, images):
        chosen = []
        for image in images.detach():
            if len(self.images) < self.size:
                self.images.append(image.clone())
                chosen.append(image)
            elif random.random() < 0.5:
                index = random.randrange(self.size)
                chosen.append(self.images[index])
                self.images[index] = image.clone()
            else:
                chosen.append(image)
        return torch.stack(chosen)


class Gan(pl.LightningModule):
    def __init__(self, latent=24):
        super().__init__()
        self.automatic_optimization = False
        self.latent = latent
        self.generator = nn.Sequential(nn.Linear(latent, 128), nn.ReLU(), nn.Linear(128, 1024), nn.Tanh())
        self.discriminator = nn.Sequential(nn.Linear(1024, 128), nn.LeakyReLU(0.2), nn.Linear(128, 1))
        self.pool = ImagePool(60)
        self.criterion = nn.BCEWithLogitsLoss()

    def training_step(self, batch, batch_idx):
        (real,) = batch
        opt_g, opt_d = self.optimizers()
        fake = self.generator(torch.randn(len(real), self.latent, device=self.device))
        score = self.discriminator(fake)
        g_loss = self.criterion(score, torch.ones_like(score))
        opt_g.zero_grad()
        self.manual_backward(g_loss)
        opt_g.step()

        real_score, fake_score = self.discriminator(real), self.discriminator(self.pool.query(fake))
        d_loss = self.criterion(real_score, torch.ones_like(real_score))
        d_loss = d_loss + self.criterion(fake_score, torch.zeros_like(fake_score))
        opt_d.zero_grad()
        self.manual_backward(d_loss)
        opt_d.step()
        self.log_dict({"g_loss": g_loss, "d_loss": d_loss}, on_step=False, on_epoch=True)

    def on_train_epoch_end(self):
        metrics = self.trainer.callback_metrics
        print(f"epoch {self.current_epoch}: G {metrics['g_loss']:.3f} D {metrics['d_loss']:.3f}")

    def configure_optimizers(self):
        return (torch.optim.Adam(self.generator.parameters(), lr=5e-4, betas=(0.5, 0.9)),
                torch.optim.Adam(self.discriminator.parameters(), lr=5e-4, betas=(0.5, 0.9)))


pl.seed_everything(8, verbose=False)
basis = torch.randn(6, 1024)
pictures = torch.tanh(torch.randn(800, 6) @ basis)
trainer = pl.Trainer(
    accelerator="cpu" if DEVICE == "cpu" else "gpu", devices=1, max_epochs=6,
    logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
)
trainer.fit(Gan(), DataLoader(TensorDataset(pictures), batch_size=20, shuffle=True))
