import { openRedis } from '../support/redis.ts'
import { storeSuite } from './suite.ts'

storeSuite({ name: 'redis', open: openRedis })
