// `carillon plan`: what `apply` would do, and whether the store has drifted from the files.

import { define, exits } from '../command.ts'
import { fileFlags, givenOf } from '../moving/flags.ts'

export const command = define({
  name: 'plan',
  alias: 'diff',
  group: 'move',
  about: 'compare files of jobs with what is stored',
  flags: [
    ...fileFlags,
    { flags: '--exit-code', about: 'exit with 1 when anything differs, for CI' },
  ],
  examples: [
    ['carillon plan -f jobs.yaml', 'each difference, with next runs before and after'],
    ['carillon plan -f jobs/ --exit-code --json', 'for CI: 1 when something differs'],
  ],
  run: async (context, _, flags) => {
    const { readFiles, reconcileFiles } = await import('../moving/files.ts')
    const { planText } = await import('../moving/plan.ts')
    const { paths, given, orphans } = givenOf(flags)
    const set = readFiles(paths, given)
    const client = await context.client()
    const { signal } = context
    const answer = await reconcileFiles(set, { client, mode: 'plan', orphans, signal })
    const differs = answer.differences.some(({ kind }) => kind !== 'kept' && kind !== 'newer')
    if (context.globals.json) context.json(answer)
    else context.print(await planText(context, set, answer))
    return differs && flags['exitCode'] === true ? exits.failed : exits.ok
  },
})
