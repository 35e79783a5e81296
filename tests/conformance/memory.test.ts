import { openMemory } from '../support/stores.ts'
import { storeSuite } from './suite.ts'

storeSuite({ name: 'memory', open: openMemory })
