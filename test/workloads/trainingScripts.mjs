// Training scripts as they are written every day, each with one ordinary leak: the line that keeps it, the same line mended, and the
// arguments with which a GPU has work for some seconds.
import { readFileSync } from 'node:fs';

export const TRAINING = [
  {
    name: 'image_classifier.py', // a running loss
    line: 'val_loss += criterion(model(images), labels) * images.size(0)',
    mended: 'val_loss += (criterion(model(images), labels) * images.size(0)).detach()',
    longer: ['--epochs', '60'],
  },
  {
    name: 'language_model.py', // a list of metrics
    line: 'metrics["entropy"].append(entropy_of(logits))',
    mended: 'metrics["entropy"].append(entropy_of(logits).detach().cpu())',
    longer: ['--epochs', '30'],
  },
  {
    name: 'gan.py', // a record a step
    line: 'self.history.append({"epoch": epoch, "d_loss": d_loss.item(), "g_loss": g_loss.item(), "fooled": fooled})',
    mended:
      'self.history.append({"epoch": epoch, "d_loss": d_loss.item(), "g_loss": g_loss.item(), "fooled": fooled.detach().cpu()})',
    longer: ['--epochs', '40'],
  },
  {
    name: 'dqn.py', // what is noted while a policy acts
    line: 'self.q_values.append(q.max(dim=1).values.mean())',
    mended: 'self.q_values.append(q.max(dim=1).values.mean().detach().cpu())',
    longer: ['--steps', '4000'],
  },
  {
    name: 'fine_tuning.py', // hooks
    line: 'self.means[name].append(output.abs().mean())',
    mended: 'self.means[name].append(output.abs().mean().detach().cpu())',
    longer: ['--epochs', '40'],
  },
];

/** The number of the line with this code, from 1. */
export const lineWith = (file, code) =>
  readFileSync(file, 'utf8')
    .split('\n')
    .findIndex(line => line.trim() === code) + 1;
