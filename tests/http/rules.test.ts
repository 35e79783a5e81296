// Every rule of schedules and interval jobs is shown over HTTP on each store: its id is in the name
// of a test of a file that tells its stories on all of them.

import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const folder = new URL('./', import.meta.url)
const ids = [
  ...Array.from({ length: 15 }, (_, i) => `A${i + 1}`),
  ...Array.from({ length: 21 }, (_, i) => `B${i + 1}`).filter(id => id !== 'B16'),
]

function namesOfTests(): string[] {
  return readdirSync(folder)
    .filter(file => file.endsWith('.test.ts'))
    .map(file => readFileSync(new URL(file, folder), 'utf8'))
    .filter(text => /\bon(?:EachStore|ThreeStores)\(/.test(text))
    .flatMap(text => [...text.matchAll(/\b(?:it|describe)\b[^'"`\n]*\(\s*(['"`])(.*?)\1/g)])
    .map(([, , name]) => name!)
}

it('every rule has a test on every store that names it', () => {
  const told = new Set(namesOfTests().flatMap(name => name.match(/\b[AB]\d{1,2}\b/g) ?? []))
  expect(ids.filter(id => !told.has(id))).toEqual([])
})
