// Which verb a state allows, for dry runs: the same table the service goes by.

import type { Job } from '../client/index.ts'
import { transitions, type Status } from '../core/control/status.ts'
import { exits } from './exits.ts'
import { CliProblem } from './problem.ts'

const states: Readonly<Record<string, readonly Status[]>> = {
  // Beyond the table: a running job is paused when its run ends.
  pause: ['scheduled', 'running'],
  resume: ['paused'],
  cancel: (Object.keys(transitions) as Status[]).filter(from =>
    transitions[from].includes('cancelled'),
  ),
  retry: ['failed'],
}

export function assertState(verb: 'pause' | 'resume' | 'cancel' | 'retry', job: Job): void {
  if (states[verb]!.includes(job.status)) return
  throw new CliProblem(exits.state, `cannot ${verb} ${job.name}: it is ${job.status}`)
}
