"""Explains the answers of a timm network with Grad-CAM, one explainer for each picture that somebody asks about.
Report: https://github.com/jacobgil/pytorch-grad-cam/issues/132
Class: hooks
"""
import timm
import torch
import torch.nn.functional as F


class GradCam:
    def __init__(self, model, layer):
        self.model = model
        self.activation = None
        self.weight = None
        layer.register_forward_hook(self.save_activation)  # HOLDER

    def save_activation(self, module, inputs, output):
        self.activation = output.detach().clone()  # SITE HOLDER
        if output.requires_grad:
            output.register_hook(self.save_gradient)

    def save_gradient(self, grad):
        self.weight = grad.mean(dim=(2, 3), keepdim=True)  # ALSO

    def __call__(self, image, target=None):
        logits = self.model(image)
        target = int(logits.argmax()) if target is None else target
        self.model.zero_grad()
        logits[0, target].backward()
        cam = F.relu((self.weight * self.activation).sum(dim=1, keepdim=True))
        cam = F.interpolate(cam, size=image.shape[-2:], mode="bilinear", align_corners=False)
        return target, cam / (cam.max() + 1e-8)


def main():
    torch.manual_seed(0)
    model = timm.create_model("test_efficientnet", pretrained=False, num_classes=20).to("cuda").eval()
    for request in range(120):
        image = torch.rand(1, 3, 96, 96, device="cuda")
        cam = GradCam(model, model.blocks[1])
        label, heat = cam(image)
        row, column = divmod(int(heat[0, 0].argmax()), heat.shape[-1])
        if request % 30 == 0:
            print(f"request {request}: class {label}, hottest at ({row}, {column})")
        del cam, heat


if __name__ == "__main__":
    main()
