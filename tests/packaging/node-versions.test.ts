// The package on the oldest Node it supports, and on one that is too old.

import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { folderOf, packageNames } from '../../scripts/packages.ts'
import { root } from './package.ts'

interface LockedPackage {
  readonly version: string
  readonly dev?: boolean
  readonly devOptional?: boolean
  readonly link?: boolean
  readonly engines?: { readonly node?: string }
  readonly dependencies?: Readonly<Record<string, string>>
}

interface Manifest {
  readonly overrides?: object
}

const readJson = (name: string): unknown => JSON.parse(readFileSync(join(root, name), 'utf8'))

const locked = (
  readJson('package-lock.json') as { packages: Readonly<Record<string, LockedPackage>> }
).packages

/** Installed for users: everything but what only the repository needs. */
const installed = Object.entries(locked).filter(
  ([path, { dev, devOptional, link }]) =>
    path !== '' && dev !== true && devOptional !== true && link !== true,
)

/** Whether a range such as `^18 || >= 20.1` accepts Node 20.0.0; throws on a form it does not know. */
function acceptsNode20(range: string): boolean {
  return range.split('||').some(part => {
    const [, sign, major, rest] = /^\s*(>=|\^)\s*(\d+)((?:\.\d+){0,2})(?:\.x)?\s*$/.exec(part) ?? []
    if (major === undefined) throw new Error(`engines: ${range}`)
    const isExact = /^[.0]*$/.test(rest!)
    return sign === '>='
      ? Number(major) < 20 || (major === '20' && isExact)
      : major === '20' && isExact
  })
}

describe('M3 the dependencies', () => {
  it('accept Node 20.0.0, all of them', () => {
    const refusing = installed
      .filter(([, { engines }]) => engines?.node !== undefined && !acceptsNode20(engines.node))
      .map(([path, { version, engines }]) => `${path} ${version}: ${engines!.node}`)
    expect(installed.length).toBeGreaterThan(50)
    expect(refusing).toEqual([])
  })

  it('are what users get: no overrides, which npm heeds only in this repository', () => {
    const manifests = [
      'package.json',
      ...packageNames.map(name => `${folderOf(name)}/package.json`),
    ]
    for (const path of manifests) {
      expect((readJson(path) as Manifest).overrides).toBeUndefined()
    }
  })

  /** From 6.8 on it brings cookie@2, which wants Node 22; fastify accepts both. */
  it('keep the light-my-request that Node 20 can use', () => {
    const own = locked[folderOf('carillon-service')]
    expect(own?.dependencies).toMatchObject({ 'light-my-request': '6.6.0' })
  })
})

describe('M3 on Node 18', () => {
  const ENTRIES = [
    'carillon/dist/index',
    'carillon/dist/testing/index',
    'carillon/dist/server',
    'carillon/dist/launcher',
    'carillon-service/dist/service/index',
    'carillon-service/dist/cli/main',
  ]
  let folder = ''

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'carillon-node-18-'))
    // What a program sees there: its version, and none of the methods that came with Node 20.
    const old = `
      Object.defineProperty(process, 'version', { value: 'v18.20.8' })
      Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '18.20.8' } })
      for (const name of ['toSorted', 'toReversed', 'toSpliced', 'with']) delete Array.prototype[name]`
    writeFileSync(join(folder, 'old.cjs'), old)
    execFileSync('npm', ['run', '--silent', 'build', '--', '--code'], { cwd: root })
  })

  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it.each(ENTRIES)('%s says in one line what it needs', entry => {
    const file = join(root, 'packages', `${entry}.js`)
    const args = ['--require', join(folder, 'old.cjs'), file, '--version']
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
    expect({ status, stdout, stderr }).toEqual({
      status: 1,
      stdout: '',
      stderr: 'Carillon needs Node 20 or newer (this is v18.20.8)\n',
    })
  })

  it.each(ENTRIES)('%s names the check before anything else', entry => {
    const text = readFileSync(join(root, 'packages', `${entry}.js`), 'utf8')
    const [first] = /^import .*$/m.exec(text)!
    expect(first).toMatch(
      /^import "(?:(?:\.\.?\/)+|carillon\/internal\/)chunks\/node-version\.js";$/,
    )
  })
})
