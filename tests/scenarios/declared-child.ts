// One of several processes with the same declared tasks: says what it runs, line by line.

import { systemClock } from '../../src/runtime/clock.ts'
import { createTaskScheduler, type Registration } from '../../src/index.ts'

const [store, count, stepMs] = process.argv.slice(2)

/** The clock of this machine, moved so that a minute is over soon. */
const clock = { ...systemClock, now: () => systemClock.now() + Number(stepMs) }

const tasks = Array.from({ length: Number(count) }, (_, i): Registration => {
  const name = `task-${i}`
  return [name, '* * * * *', ({ run }) => say(`ran ${name} ${run.scheduledFor.toISOString()}`), 0]
})

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

const scheduler = createTaskScheduler({ store: store!, clock })
process.stdin.on('data', bytes => {
  if (bytes.toString().includes('start')) void scheduler.initialize(tasks).then(() => say('ready'))
  if (bytes.toString().includes('stop')) {
    process.stdin.destroy()
    void scheduler.stop().then(() => say('stopped'))
  }
})
