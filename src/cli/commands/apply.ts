// `carillon apply`: makes the stored jobs of a label those of the files.

import { define, exits } from '../command.ts'
import { fileFlags, givenOf } from '../moving/flags.ts'
import { CliProblem } from '../problem.ts'

export const command = define({
  name: 'apply',
  group: 'move',
  about: 'make the stored jobs of a label match files',
  flags: fileFlags,
  isMutation: true,
  examples: [
    ['carillon apply -f jobs.yaml --dry-run', 'what would change; also: carillon plan'],
    ['carillon apply -f jobs/ --yes', 'for a deploy: without being asked'],
  ],
  notes: 'Only jobs of the same label are archived when they are no longer in the files.',
  run: async (context, _, flags) => {
    const { readFiles, reconcileFiles } = await import('../moving/files.ts')
    const { countOf, isMass, planText } = await import('../moving/plan.ts')
    const { globals, signal } = context
    const { paths, given, orphans } = givenOf(flags)
    const set = readFiles(paths, given)
    const client = await context.client({ mayCreate: !globals.isDryRun })
    const asking = { client, orphans, signal }
    const planned = await reconcileFiles(set, { ...asking, mode: 'plan' })
    const { differences, declared } = planned
    if (!globals.json) context.print(await planText(context, set, planned))
    if (globals.isDryRun) {
      if (globals.json) context.json(planned)
      return exits.ok
    }
    const gone = countOf(differences, 'archived')
    if (isMass(differences, declared) && !globals.isYes) {
      const hint = 'look at the plan; --yes archives them, --keep leaves them'
      throw new CliProblem(
        exits.state,
        `${gone} jobs would be archived: that many need --yes`,
        hint,
      )
    }
    if (gone > 0 && !(await context.confirm(`Archive ${gone}?`))) return exits.failed
    const answer = await reconcileFiles(set, { ...asking, mode: 'apply' })
    if (globals.json) context.json(answer)
    else context.say(`applied to ${(await context.target()).name}`)
    return exits.ok
  },
})
