// `carillon completion`: a script for the shell that completes commands, flags, jobs and zones.

import { addTo, exits, type CliCommand } from '../command.ts'
import { scripts } from '../completion-scripts.ts'
import { usage } from '../problem.ts'
import { didYouMean } from '../../core/spec/suggest.ts'

export const command: CliCommand = {
  add: program =>
    void addTo(program, {
      name: 'completion',
      group: 'host',
      about: 'a script that completes commands, flags, jobs and zones',
      args: [['<shell>', 'bash, zsh or fish']],
      isAlone: true,
      examples: [
        ['source <(carillon completion bash)', 'now; put it into ~/.bashrc to keep it'],
        ['carillon completion zsh > "${fpath[1]}/_carillon"', 'zsh'],
        ['carillon completion fish > ~/.config/fish/completions/carillon.fish', 'fish'],
      ],
      run: async (context, [shell]) => {
        const script = scripts[shell as keyof typeof scripts] as string | undefined
        if (script === undefined) {
          const hint = didYouMean(shell as string, Object.keys(scripts)) ?? 'bash, zsh or fish'
          throw usage(`there is no script for ${shell as string}`, hint)
        }
        context.print(script)
        return exits.ok
      },
    }),
}
