// The Lua files: Redis compiles every one of them, and each says itself what it needs.

import { expect, describe, it } from 'vitest'
import { linkTo } from '../../../tests/support/redis.ts'
import { freshPlace } from '../../../tests/support/servers/shared.ts'
import { skipTest } from '../../../tests/support/skip.ts'
import { includesOf, scriptFiles, scriptNames, scriptOf, withIncludes } from './scripts.ts'

const files = scriptFiles()
const includes = files.filter(file => file.startsWith('include/'))

/** Names that are given: of Lua, of Redis, and words of the language. */
const known = new Set(
  (
    'and break do else elseif end false for function if in local nil not or repeat return then true ' +
    'until while redis cjson string table math tonumber tostring type ipairs pairs pcall next ' +
    'unpack KEYS ARGV'
  ).split(' '),
)

/** The code without comments and texts. */
const bare = (text: string) =>
  text.replaceAll(/'(?:\\.|[^'\\\n])*'/g, "''").replaceAll(/--[^\n]*/g, '')

/** Names a text declares anywhere: locals, functions, parameters, loops. */
function declaredIn(text: string): Set<string> {
  const lists = [
    ...text.matchAll(/\blocal (?!function\b)([\w\s,]+)/g),
    ...text.matchAll(/\bfunction\s*\w*\s*\(([^)]*)\)/g),
    ...text.matchAll(/\bfor ([\w\s,]+?)(?:=| in )/g),
    ...text.matchAll(/\blocal function (\w+)/g),
  ]
  return new Set(lists.flatMap(([, names]) => names!.split(/[,\s]+/)))
}

/** Names a text uses that are no field and no key of a table. */
function usedIn(text: string): Set<string> {
  const names = text.matchAll(/(?<![\w.:])([A-Za-z_]\w*)\b(?!\s*=(?!=))/g)
  return new Set([...names].map(([, name]) => name!))
}

describe('the scripts', () => {
  it('S2 are all there: every file has its access, and every include is included', () => {
    const named = scriptNames.map(name => `${name}.lua`).sort()
    expect(files.filter(file => !includes.includes(file))).toEqual(named)
    const included = new Set(files.flatMap(includesOf).map(name => `include/${name}.lua`))
    expect(includes.filter(file => !included.has(file))).toEqual([])
  })

  it.each(files)('S2 %s includes what it uses', file => {
    const whole = bare(withIncludes(file))
    const declared = declaredIn(whole)
    const missing = [...usedIn(whole)].filter(name => !declared.has(name) && !known.has(name))
    expect(missing).toEqual([])
  })

  it.each(includes)('S2 %s only defines: what it includes is below it', file => {
    const own = bare(withIncludes(file)).split('\n')
    const statements = own.filter(line => /^(?!local\b|end\b|\s|[})]|$)/.test(line))
    expect(statements).toEqual([])
  })

  it.each(scriptNames)('S2 %s is compiled by Redis', async name => {
    const place = await freshPlace('redis')
    if ('missing' in place) skipTest(place.missing)
    const link = await linkTo(place.url)
    const { sha, text } = scriptOf(name)
    expect(await link.send(['SCRIPT', 'LOAD', text])).toBe(sha)
    link.destroy()
    await place.clean()
  })
})
