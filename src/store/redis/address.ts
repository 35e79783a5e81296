// `redis://user:password@host:port/db?namespace=name`, taken apart. What is shown to people never
// holds the password.

import { refuse, SchedulerError } from '../../core/errors.ts'

export interface Address {
  /** For the client: without what only this store knows. */
  readonly url: string
  readonly username: string | undefined
  readonly password: string | undefined
  readonly isTls: boolean
  readonly namespace: string
  /** For people. */
  readonly label: string
}

export const DEFAULT_NAMESPACE = 'carillon'
const NAMESPACE = /^[\w.:-]{1,100}$/

export function addressOf(text: string): Address {
  const url = parsed(text)
  const namespace = url.searchParams.get('namespace') ?? DEFAULT_NAMESPACE
  const others = [...url.searchParams.keys()].filter(name => name !== 'namespace')
  refuse('SETTINGS_INVALID', 'the store is not valid', [
    ...(NAMESPACE.test(namespace)
      ? []
      : [
          {
            field: 'store.namespace',
            value: namespace,
            rule: 'must be 1 to 100 letters, digits, dots, colons, dashes or underscores',
          },
        ]),
    ...others.map(name => ({ field: `store.${name}`, value: name, rule: 'is not known' })),
  ])
  const username = decodeURIComponent(url.username)
  const password = decodeURIComponent(url.password)
  url.search = ''
  const db = url.pathname.length > 1 ? url.pathname : '/0'
  return {
    url: url.href,
    username: username === '' ? undefined : username,
    password: password === '' ? undefined : password,
    isTls: url.protocol === 'rediss:',
    namespace,
    label: `${url.host}${db}?namespace=${namespace}`,
  }
}

/** Not the error of `URL`, which holds what it was given. */
function parsed(text: string): URL {
  try {
    const url = new URL(text)
    if ((url.protocol === 'redis:' || url.protocol === 'rediss:') && url.host !== '') return url
  } catch {
    // Said below.
  }
  throw new SchedulerError(
    'SETTINGS_INVALID',
    'the store is not valid: store: must be redis://host:port/db?namespace=name',
    { problems: [{ field: 'store', value: 'redis:…', rule: 'must be a Redis URL' }] },
  )
}
