// The hosts file and resolv.conf, read as the C library reads them.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { candidates, parseHosts, parseResolvConf, WatchedFile } from './system-names.ts'

describe('S4: what the system says about names', () => {
  it('addresses of the hosts file, of both families and under every name', () => {
    const hosts = parseHosts(`# comment
127.0.0.1\tlocalhost  # own
10.0.0.7 db.internal DB db
fd00::7 db
not-an-address x
`)
    expect(Object.fromEntries(hosts)).toEqual({
      localhost: ['127.0.0.1'],
      'db.internal': ['10.0.0.7'],
      db: ['10.0.0.7', 'fd00::7'],
    })
  })

  it.each([
    ['', 'vm', [], 1],
    ['', 'vm.Example.com', ['example.com'], 1],
    ['domain a.test\nsearch b.test c.test. # x', 'vm', ['b.test', 'c.test'], 1],
    ['search b.test\ndomain a.test', 'vm', ['a.test'], 1],
    [
      'search x.svc.cluster.local svc.cluster.local\noptions edns0 ndots:5',
      'vm',
      ['x.svc.cluster.local', 'svc.cluster.local'],
      5,
    ],
    ['options ndots:99', 'vm', [], 15],
    ['nameserver 127.0.0.11\noptions ndots:0', 'vm', [], 0],
  ])('search list and ndots of %j on %s', (text, name, search, ndots) => {
    expect(parseResolvConf(text, name)).toEqual({ search, ndots })
  })

  it.each([
    ['db', [], 1, ['db']],
    ['db', ['a.test'], 0, ['db', 'db.a.test']],
    ['db', ['a.test', 'b.test'], 1, ['db.a.test', 'db.b.test', 'db']],
    ['api.example.com', ['a.test'], 1, ['api.example.com', 'api.example.com.a.test']],
    ['api.example.com', ['a.test'], 5, ['api.example.com.a.test', 'api.example.com']],
  ])('%s with %j and ndots %d is asked for as %j', (name, search, ndots, expected) => {
    expect(candidates(name, { search, ndots })).toEqual(expected)
  })

  it('files are read again when they changed, and may be gone', () => {
    const folder = mkdtempSync(join(tmpdir(), 'names-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const path = join(folder, 'hosts')
    const file = new WatchedFile(path, parseHosts)
    expect(file.value.size).toBe(0)
    writeFileSync(path, '10.0.0.1 a')
    expect([...file.value.keys()]).toEqual(['a'])
    writeFileSync(path, '10.0.0.1 a other')
    expect([...file.value.keys()]).toEqual(['a', 'other'])
    rmSync(path)
    expect(file.value.size).toBe(0)
  })
})
