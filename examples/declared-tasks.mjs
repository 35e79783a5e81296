// Tasks declared as a whole: one runs at once because its minute is now, fails and is tried again;
// the next start tells what changed.

import { createTaskScheduler } from 'carillon'

const scheduler = createTaskScheduler({ store: 'sqlite:declared-tasks.db', tz: 'UTC' })

let tries = 0
let isOver = () => {}
const over = new Promise(resolve => {
  isOver = resolve
})

await scheduler.initialize([
  ['every-minute', '* * * * *', clean, 200],
  ['report', '0 7 * * 1-5', () => console.log('sent'), 60_000],
])
await over
await scheduler.stop()

// The next deploy: one task has another time, one is gone.
await scheduler.initialize([['report', '30 6 * * 1-5', () => console.log('sent'), 60_000]])
await scheduler.stop()
console.log('stopped')

function clean() {
  tries++
  console.log(`try ${tries}`)
  if (tries === 1) throw new Error('busy')
  isOver()
}
