// The pages on HTTP and configuration against the code they describe.

import { expect, test } from 'vitest'
import { problemTypes } from '../../src/service/use-cases/call/problem.ts'
import { flagOf, optionNames, options } from '../../src/service/config/options.ts'
import { names, page, tableUnder } from './pages.ts'

test('every type of refusal is described with its status', () => {
  const table = tableUnder(page('docs/reference/http.md').text, 'Refusals')
  const described = table.map(([type, status]) => [names(type!)[0]!, Number.parseInt(status!, 10)])
  const known = Object.entries(problemTypes).map(([slug, [status]]) => [slug, status])
  expect(Object.fromEntries(described)).toEqual(Object.fromEntries(known))
})

test('every setting of the service is described as it is', () => {
  const table = tableUnder(page('docs/reference/configuration.md').text, 'Settings')
  const described = table.map(([key, variable, flag, value]) => [
    names(key!)[0]!,
    names(variable!)[0]!,
    names(flag!)[0]?.replace(/^--(?:no-)?/, '') ?? null,
    names(value!)[0] ?? null,
  ])
  const known = optionNames.map(name => {
    const { env, default: value } = options[name]
    return [name, env, flagOf(name), value === null ? null : String(value)]
  })
  expect(described).toEqual(known)
})
