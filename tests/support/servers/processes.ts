// Small questions about processes: does it live, is it ours, what did a command say.

import { execFile } from 'node:child_process'
import { readFileSync, readlinkSync } from 'node:fs'
import { promisify } from 'node:util'

const execute = promisify(execFile)

export interface RunOptions {
  readonly uid?: number
  readonly gid?: number
  readonly env?: NodeJS.ProcessEnv
  readonly cwd?: string
}

/** Runs a command to its end; the error of a failed one carries what it printed. */
export async function run(
  file: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<string> {
  try {
    const { stdout } = await execute(file, args, { ...options, maxBuffer: 64 * 2 ** 20 })
    return stdout
  } catch (error) {
    const { message, stderr } = error as Error & { stderr?: string }
    throw new Error(`${file} failed: ${stderr?.trim() || message}`, { cause: error })
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !isZombie(pid)
  } catch {
    return false
  }
}

/** Ended, and only its parent has not asked yet: it holds no port and no file any more. */
function isZombie(pid: number): boolean {
  try {
    return /^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

/** The first line of a pid file, if there is one. */
export function readPid(file: string): number | null {
  try {
    const pid = Number.parseInt(readFileSync(file, 'utf8'), 10)
    return Number.isInteger(pid) && pid > 1 ? pid : null
  } catch {
    return null
  }
}

/** Servers work in their own folder: a pid that was given away since then does not. */
export function worksIn(pid: number, folder: string): boolean {
  if (process.platform !== 'linux') return isAlive(pid)
  try {
    return readlinkSync(`/proc/${pid}/cwd`).startsWith(folder)
  } catch {
    return false
  }
}
