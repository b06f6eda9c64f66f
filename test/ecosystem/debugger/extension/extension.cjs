const vscode = require('vscode');

const { GMT_TORCH_PYTHON, GMT_DEBUGPY } = process.env;

exports.activate = context => {
  const adapter = ['-m', 'debugpy.adapter'];
  const env = { ...process.env, PYTHONPATH: GMT_DEBUGPY };
  const factory = {
    createDebugAdapterDescriptor: () => new vscode.DebugAdapterExecutable(GMT_TORCH_PYTHON, adapter, { env }),
  };
  const provider = {
    resolveDebugConfigurationWithSubstitutedVariables: (_folder, configuration) => ({
      python: [GMT_TORCH_PYTHON],
      subProcess: false,
      ...configuration,
      env: { PYTHONPATH: `${process.env.PYTHONPATH}:${GMT_DEBUGPY}`, OMP_NUM_THREADS: '1', ...configuration.env },
    }),
  };
  context.subscriptions.push(
    vscode.debug.registerDebugAdapterDescriptorFactory('debugpy', factory),
    vscode.debug.registerDebugConfigurationProvider('debugpy', provider),
  );
};
