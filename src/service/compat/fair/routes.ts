// `/api/v1/fair` and `/api/v1/users`: the queue that users share in turns, as system D has it.

import { serveSchedules } from '../../../fair/tasks.ts'
import type { Routes } from '../../http/app/parts.ts'
import { resource } from '../../http/app/resource.ts'
import { getFairHealth } from './health.ts'
import {
  countFairSchedules,
  createFairSchedule,
  editFairSchedule,
  getFairSchedule,
  listFairSchedules,
  removeFairSchedule,
} from './schedules.ts'
import { getUserRule, listUserRules, removeUserRule, setUserRule } from './users.ts'

export const fairRoutes: Routes = (app, parts) => {
  serveSchedules(parts.engine)
  for (const add of [schedules, users, health]) add(app, parts)
}

const schedules = resource('/api/v1/fair/schedules', 'fair queue', [
  ['POST', '', 'A cron schedule of a user; each firing becomes a task', createFairSchedule],
  [
    'GET',
    '',
    'Schedules, the newest first; a page may be short while a cursor is given',
    listFairSchedules,
  ],
  ['GET', '/stats', 'How many there are, of whom', countFairSchedules],
  ['GET', '/:id', 'One schedule', getFairSchedule],
  [
    'PATCH',
    '/:id',
    'Change what is given; cron, zone and is_active count from now',
    editFairSchedule,
  ],
  ['DELETE', '/:id', 'Remove a schedule; tasks it made are still done', removeFairSchedule],
])

const users = resource('/api/v1/users', 'fair queue', [
  ['GET', '', 'The users that have rules, by name', listUserRules],
  ['GET', '/:id', 'The rule of a user; one that has none has the plain one', getUserRule],
  ['PUT', '/:id', 'Give a user a rule; other processes know of it within seconds', setUserRule],
  ['DELETE', '/:id', 'Take the rule of a user away', removeUserRule],
])

const health = resource('/api/v1/fair/health', 'fair queue', [
  ['GET', '', 'How this node does its share of the work', getFairHealth],
])
