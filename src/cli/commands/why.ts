// `carillon why`: one sentence why a job runs when it does, or does not, and the checks behind it.

import { define, exits } from '../command.ts'
import { findJob } from '../find.ts'
import { safe } from '../screen.ts'

const commandsFor: Readonly<Record<string, string>> = {
  paused: 'carillon resume',
  failed: 'carillon retry',
  no_next: 'carillon edit',
}

export const command = define({
  name: 'why',
  group: 'look',
  about: 'why a job runs when it does, or does not',
  args: [['<job>', 'its name or id']],
  examples: [['carillon why billing.invoice', 'the reason, and what to do about it']],
  run: async (context, [typed]) => {
    const client = await context.client()
    const { signal, screen } = context
    const job = await findJob(client, typed as string, signal)
    const why = await client.jobs.why(job.id, { signal })
    if (context.globals.json) {
      context.json(why)
      return exits.ok
    }
    context.print(safe(why.verdict))
    for (const { ok, code, text, fix } of why.checks) {
      const [good, bad] = screen.hasUnicode ? (['✓', '✗'] as const) : (['ok', '!!'] as const)
      const mark = ok ? screen.paint('ok', good) : screen.paint('failed', bad)
      const known = commandsFor[code]
      const todo = known === undefined ? (fix ?? '') : `${known} ${job.name}`
      context.print(`  ${mark} ${safe(text)}${ok || todo === '' ? '' : `   ${safe(todo)}`}`)
    }
    return exits.ok
  },
})
