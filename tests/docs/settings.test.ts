import { expect, test } from 'vitest'
import { engineDefaults } from '../../src/runtime/settings.ts'
import { names, page, readText, tableUnder } from './pages.ts'

const { text } = page('docs/reference/settings.md')
const options = tableUnder(text, 'Options of createScheduler')
const finer = tableUnder(text, 'Finer settings')

/** The members an interface declares, read from its source. */
function members(path: string, name: string): string[] {
  const body = new RegExp(`interface ${name}\\b[^{]*\\{\n([\\s\\S]*?)\n\\}`).exec(
    readText(path),
  )![1]!
  return [...body.matchAll(/^ {2}(?:readonly )?(\w+)\??[:(]/gm)].map(match => match[1]!)
}

test('every option of createScheduler is described', () => {
  const described = options.map(([cell]) => names(cell!)[0]!)
  expect(described.sort()).toEqual(members('src/library/create.ts', 'SchedulerOptions').sort())
})

test('every finer setting is described with its default', () => {
  const described = Object.fromEntries(
    finer.map(([name, value]) => [names(name!)[0]!, read(names(value!)[0]!)]),
  )
  expect(described).toEqual(engineDefaults)
})

test('every range is the one that is checked', () => {
  const source = readText('src/runtime/settings.ts')
  const checked = [...source.matchAll(/\['(\w+)', ([\d_]+), ([\d_]+)\]/g)].map(match => [
    match[1]!,
    `${shown(match[2]!)} – ${shown(match[3]!)}`,
  ])
  const described = finer
    .map(([name, , range]) => [names(name!)[0]!, range!])
    .filter(([name]) => !['queues', 'buffers', 'waitingMax'].includes(name!))
  expect(Object.fromEntries(described)).toEqual(Object.fromEntries(checked))
})

function read(value: string): unknown {
  return JSON.parse(value.replaceAll('_', ''))
}

function shown(digits: string): string {
  return Number(digits.replaceAll('_', '')).toLocaleString('en-US')
}
