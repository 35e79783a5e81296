// The published test kit: re-exports only.

import '../node-version.ts'

export {
  createTestScheduler,
  type TestOptions,
  type TestRun,
  type TestScheduler,
} from './scheduler.ts'
export { VirtualClock } from './virtual-clock.ts'
