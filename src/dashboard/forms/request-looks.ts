// How the parts of a request are labelled, wherever a form has one: its headers, parameters and secrets.

import type { Look } from './layout.ts'

type Looks = Readonly<Record<string, Look>>

/** A text, or a secret of the service by its name. */
const valueLooks = (path: string): Looks => ({
  [path]: {
    label: 'Kind',
    options: [
      ['text', 'Text'],
      ['secret', 'Secret'],
    ],
  },
  [`${path}.text`]: { label: 'Value' },
  [`${path}.secret`]: { label: 'Secret', placeholder: 'API_KEY' },
  [`${path}.prefix`]: { label: 'Prefix', placeholder: 'Bearer ' },
})

export const headerLooks = (path: string): Looks => ({
  [path]: {
    label: 'Headers',
    item: 'header',
    hint: 'Secret values are shown as ***; left so, they stay as they are.',
  },
  ...valueLooks(`${path}.*`),
})

export const paramLooks = (path: string): Looks => ({
  [path]: { label: 'Parameters', item: 'parameter' },
  ...valueLooks(`${path}.*.value`),
})

/** The settings of an HTTP call under a path. */
export const callLooks = (path: string): Looks => ({
  [`${path}.url`]: {
    label: 'Address',
    type: 'url',
    placeholder: 'https://example.com/hook',
    isWide: true,
  },
  ...headerLooks(`${path}.headers`),
  ...paramLooks(`${path}.params`),
  [`${path}.body`]: { label: 'Body (JSON)', hint: 'Empty: the payload is sent as JSON.' },
  [`${path}.secrets`]: {
    label: 'Signing secrets (JSON)',
    lines: 2,
    hint: 'Standard Webhooks: one signature for each, such as [{"secret": "HOOK_KEY"}].',
  },
  [`${path}.timeout_seconds`]: { label: 'Request timeout (seconds)' },
})
