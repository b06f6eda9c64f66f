// A call tree for the fake host: main calls two user functions, each goes through four frames of torch to forty lines.
import type { Frame } from '../../extension/protocol/trace';
import type { StackTree, StackTreeQuery } from '../../extension/protocol/requests/treeRequests';

const MB = 1024 ** 2;
const TORCH = '/usr/lib/python3.12/site-packages/torch/nn/modules';

interface Made {
  parent: number;
  frame: Frame;
  self: number;
}

type Add = (parent: number, file: string, line: number, name: string, self?: number) => number;

/** Twelve layers, each with what its memory is for. */
function modules(add: Add): void {
  const layers = add(add(-1, 'model', 0, 'model'), 'model.layers', 0, 'layers');
  for (let layer = 0; layer < 12; layer++) {
    const at = add(layers, `model.layers.${layer}`, 0, String(layer));
    for (const [part, scale] of Object.entries({ self_attn: 3, mlp: 2, norm: 0.1 })) {
      const file = `model.layers.${layer}.${part}`;
      const module = add(at, file, 0, part);
      add(module, file, 0, 'activations', 64 * MB * scale * (layer === 3 ? 2 : 1));
      add(module, file, 0, 'parameters', 16 * MB * scale);
      add(module, file, 0, 'gradients', 16 * MB * scale);
    }
  }
  add(-1, '(no module)', 0, '(no module)', 64 * MB);
}

function made(weight: StackTreeQuery['weight']): Made[] {
  const nodes: Made[] = [];
  const add = (parent: number, file: string, line: number, name: string, self = 0): number =>
    nodes.push({ parent, frame: { file, line, function: name }, self }) - 1;
  if (weight === 'modules') {
    modules(add);
    return nodes;
  }
  const scale = { live: 1, peak: 1.5, churn: 20 }[weight];
  const main = add(-1, '/home/user/project/train.py', 88, 'main');
  for (const [s, step] of ['training_step', 'evaluate'].entries()) {
    let at = add(main, '/home/user/project/train.py', 63 + s, step, 4 * MB);
    for (let i = 0; i < 4; i++) at = add(at, `${TORCH}/module.py`, 100 + i, '_call_impl');
    for (let leaf = 0; leaf < 40; leaf++) {
      const bytes = ((scale * 512 * MB) / (1 + leaf)) * (s === 0 ? 3 : 1);
      const forward = add(at, `/home/user/project/model${leaf % 7}.py`, 10 + leaf, `forward_${leaf}`, bytes);
      add(forward, `${TORCH}/linear.py`, 50, 'linear', bytes / 4);
    }
  }
  add(-1, '', 0, '', 64 * MB);
  return nodes;
}

export function stackTree({ weight }: StackTreeQuery): StackTree {
  const nodes = made(weight);
  const sums = Float64Array.from(nodes, node => node.self);
  const children = new Uint32Array(nodes.length);
  for (let i = nodes.length - 1; i >= 0; i--) {
    const { parent } = nodes[i]!;
    if (parent < 0) continue;
    sums[parent]! += sums[i]!;
    children[parent]!++;
  }
  return {
    revision: 1,
    nodes: nodes.length,
    totalBytes: nodes.reduce((sum, node) => sum + node.self, 0),
    totalCount: 3 * nodes.filter(({ parent }) => parent < 0).length,
    id: Uint32Array.from(nodes, (_, i) => i),
    parent: Int32Array.from(nodes, node => node.parent),
    frame: Uint32Array.from(nodes, (_, i) => i),
    selfBytes: Float64Array.from(nodes, node => node.self),
    sumBytes: sums,
    liveCount: new Float64Array(nodes.length).fill(3),
    children,
    site: Uint32Array.from(nodes, (_, i) => (weight === 'modules' ? 0 : i + 1)),
    frames: nodes.map(node => node.frame),
  };
}
