// Where imports read from: a file, the standard input, the crontab of this user, folders of units.

import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { readText } from '../payload.ts'
import { usage } from '../problem.ts'

export interface Text {
  readonly name: string
  readonly text: string
}

/** Without a name, what `crontab -l` prints. */
export function crontabText(path: string | undefined): Text {
  if (path !== undefined) return { name: path === '-' ? '' : basename(path), text: readText(path) }
  const { status, stdout, stderr, error } = spawnSync('crontab', ['-l'], { encoding: 'utf8' })
  if (status === 0) return { name: '', text: stdout }
  const why = error === undefined ? stderr.trim() : 'there is no crontab program here'
  throw usage(`your crontab cannot be read: ${why}`, 'name a file, or - for the standard input')
}

/** Lines of these have a user in them. */
export function isSystemCrontab(path: string | undefined): boolean {
  if (path === undefined) return false
  const whole = resolve(path)
  return whole === '/etc/crontab' || dirname(whole) === '/etc/cron.d'
}

export interface TimerText {
  readonly path: string
  readonly name: string
  readonly timer: string
  readonly service: string | null
}

const unitFolders = ['/etc/systemd/system', '/usr/lib/systemd/system', '/lib/systemd/system']

export function timerTexts(paths: readonly string[]): TimerText[] {
  const files = paths.flatMap(path => {
    if (!existsSync(path)) throw usage(`${path} is not there`)
    if (!statSync(path).isDirectory()) return [path]
    return readdirSync(path)
      .filter(name => name.endsWith('.timer'))
      .toSorted()
      .map(name => join(path, name))
  })
  return files.map(path => {
    const timer = readText(path)
    const name = basename(path).replace(/\.timer$/, '')
    const unit = /^\s*Unit\s*=\s*(\S+)/m.exec(timer)?.[1] ?? `${name}.service`
    const service = [dirname(path), ...unitFolders]
      .map(folder => join(folder, unit))
      .find(existsSync)
    return { path, name, timer, service: service === undefined ? null : readText(service) }
  })
}
