// The published test kit: re-exports only.

export {
  createTestScheduler,
  type TestOptions,
  type TestRun,
  type TestScheduler,
} from './scheduler.ts'
export { VirtualClock } from './virtual-clock.ts'
