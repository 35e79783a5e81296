// What a command and everything it starts use, looked at while they run. The CPU time is whole: it is
// read once more when the output ends, before the system forgets the process. The memory is the most
// that was seen.

import type { ChildProcess } from 'node:child_process'
import type { Millis } from '../../core/time.ts'
import type { Clock } from '../../runtime/clock.ts'
import { treeSample, type Usage } from '../usage.ts'

/** Short commands are looked at soon, long ones rarely. */
const FIRST_LOOK_MS: Millis = 5
const LOOK_MS: Millis = 250

export class UsageWatch {
  readonly #pid: number | undefined
  readonly #clock: Clock
  #cpuMs: number | null = null
  #peakMb: number | null = null
  #stop: (() => void) | null = null

  constructor(child: ChildProcess, clock: Clock) {
    this.#pid = child.pid
    this.#clock = clock
    const look = () => this.#look()
    child.stdout?.once('end', look)
    child.stderr?.once('end', look)
    this.#lookAfter(FIRST_LOOK_MS)
  }

  /** Null where nothing was seen: not on Linux, or over too soon. */
  get usage(): Usage {
    return { cpuMs: this.#cpuMs, peakMb: this.#peakMb }
  }

  stop(): void {
    this.#stop?.()
  }

  #lookAfter(ms: Millis): void {
    this.#stop = this.#clock.after(ms, () => {
      if (this.#look()) this.#lookAfter(Math.min(ms * 2, LOOK_MS))
    })
  }

  /** False when there is nothing to see any more. */
  #look(): boolean {
    const sample = this.#pid === undefined ? null : treeSample(this.#pid)
    if (sample === null) return false
    this.#cpuMs = Math.max(this.#cpuMs ?? 0, sample.cpuMs)
    if (sample.memoryMb !== null) this.#peakMb = Math.max(this.#peakMb ?? 0, sample.memoryMb)
    return true
  }
}
