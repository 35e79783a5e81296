// The account that commands run under, from its name or its numbers.

import { expect, test } from 'vitest'
import { findAccount } from './account.ts'

const passwd = `root:x:0:0:root:/root:/bin/bash
jobs:x:1001:1002:Jobs:/srv/jobs:/bin/sh
bare:x:1003:1003:::
`
const machine = { uid: 0, passwd }

test.each([
  ['jobs', { name: 'jobs', uid: 1001, gid: 1002, home: '/srv/jobs', shell: '/bin/sh' }],
  ['1001', { name: 'jobs', uid: 1001, gid: 1002, home: '/srv/jobs' }],
  ['1001:5', { name: 'jobs', uid: 1001, gid: 5 }],
  ['bare', { name: 'bare', home: '/', shell: '/bin/sh' }],
  ['2000', { name: '2000', uid: 2000, gid: 2000, home: '/', shell: '/bin/sh' }],
])('S6 %s is found', (given, account) => {
  expect(findAccount(given, machine)).toMatchObject(account)
})

test.each([
  ['jobs', { ...machine, uid: 501 }, /needs a service that runs as root: it runs as user 501/],
  ['jobs', { ...machine, uid: null }, /this system has no such accounts/],
  ['mail', machine, /must be an account of \/etc\/passwd, or uid:gid/],
  ['root', machine, /must be another account than root/],
  ['0', machine, /must be another account than root/],
])('S6 %s is refused', (given, where, message) => {
  expect(() => findAccount(given, where)).toThrow(message)
})
