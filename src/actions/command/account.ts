// Another account that commands run under, so that they cannot read what the service can.

import { SchedulerError } from '../../core/errors.ts'

export interface CommandAccount {
  readonly name: string
  readonly uid: number
  readonly gid: number
  readonly home: string
  readonly shell: string
}

export interface Machine {
  /** The service's own user id; null where there is none. */
  readonly uid: number | null
  /** The text of /etc/passwd. */
  readonly passwd: string
}

const FIELD = 'CARILLON_COMMAND_USER'

/** A name, or numbers as `uid` or `uid:gid`; throws what is wrong with it. */
export function findAccount(given: string, { uid, passwd }: Machine): CommandAccount {
  if (uid !== 0) {
    const who = uid === null ? 'this system has no such accounts' : `it runs as user ${uid}`
    throw wrong(given, `needs a service that runs as root: ${who}`)
  }
  const [, number, group] = /^(\d{1,10})(?::(\d{1,10}))?$/.exec(given) ?? []
  const lines = passwd.split('\n').map(line => line.split(':'))
  const found = lines.find(
    ([name, , id]) => (number === undefined ? name : id) === (number ?? given),
  )
  if (found === undefined && number === undefined) {
    throw wrong(given, 'must be an account of /etc/passwd, or uid:gid')
  }
  const account = {
    name: found?.[0] ?? given,
    uid: Number(number ?? found![2]),
    gid: Number(group ?? found?.[3] ?? number),
    home: found?.[5] || '/',
    shell: found?.[6] || '/bin/sh',
  }
  if (account.uid === 0) throw wrong(given, 'must be another account than root')
  return account
}

export function variablesOf({ name, home, shell }: CommandAccount): Record<string, string> {
  return { HOME: home, USER: name, LOGNAME: name, SHELL: shell }
}

function wrong(value: string, rule: string): SchedulerError {
  const problems = [{ field: FIELD, value, rule }]
  return new SchedulerError('SETTINGS_INVALID', `${FIELD} ${rule}`, { problems })
}
