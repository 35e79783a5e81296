// Installs Debian packages, all in one call of apt-get. Another package manager at work is waited for.

import { setTimeout as delay } from 'node:timers/promises'
import { run } from './processes.ts'

export interface AptOptions {
  readonly env?: NodeJS.ProcessEnv
  readonly print?: (line: string) => void
  /** How long to wait for another package manager. */
  readonly lockWaitMs?: number
  /** Between two looks at a lock that apt-get itself does not wait for. */
  readonly pauseMs?: number
}

const LOCK_WAIT_MS = 10 * 60_000
const PAUSE_MS = 2_000

/** apt-get waits for dpkg's lock by itself, but not for those of its lists and its downloads. */
const isLocked = /could not get lock|unable to (?:lock|acquire)/i

async function whenUnlocked(work: () => Promise<unknown>, options: AptOptions): Promise<void> {
  const { print = console.log, lockWaitMs = LOCK_WAIT_MS, pauseMs = PAUSE_MS } = options
  const deadline = performance.now() + lockWaitMs
  for (let isFirst = true; ; isFirst = false) {
    try {
      await work()
      return
    } catch (error) {
      const isBusy = error instanceof Error && isLocked.test(error.message)
      if (!isBusy || performance.now() > deadline) throw error
      if (isFirst) print('Another package manager is running; waiting for it…')
      await delay(pauseMs)
    }
  }
}

/** Installs the packages. If that fails, updates the package lists and tries once more. */
export async function installPackages(
  names: readonly string[],
  options: AptOptions = {},
): Promise<void> {
  const env = {
    ...(options.env ?? process.env),
    DEBIAN_FRONTEND: 'noninteractive',
    // The messages are read above.
    LC_ALL: 'C.UTF-8',
    // Keeps packages from starting servers: the tests start theirs.
    RUNLEVEL: '1',
  }
  const seconds = Math.ceil((options.lockWaitMs ?? LOCK_WAIT_MS) / 1000)
  const patience = ['-o', `DPkg::Lock::Timeout=${seconds}`]
  const apt = (...args: string[]) =>
    whenUnlocked(() => run('apt-get', [...patience, ...args], { env }), options)
  const install = () => apt('install', '--yes', '--no-install-recommends', ...names)
  try {
    await install()
  } catch {
    // Most often a fresh image without package lists, or lists that are out of date.
    await apt('update')
    await install()
  }
}
