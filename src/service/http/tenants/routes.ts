// `/api/v1/tenants`: their jobs in numbers, and what each is given in all.

import { getTenantRule, removeTenantRule, setTenantRule } from '../../use-cases/tenants/rules.ts'
import { listTenants } from '../../use-cases/tenants/tenants.ts'
import { resource } from '../app/resource.ts'

export const tenantRoutes = resource('/api/v1/tenants', 'system', [
  ['GET', '/:id', 'The rule of a tenant; one that has none has the plain one', getTenantRule],
  ['PUT', '/:id', 'Give a tenant a rule; needs a token of every tenant', setTenantRule],
  [
    'DELETE',
    '/:id',
    'Take the rule of a tenant away; needs a token of every tenant',
    removeTenantRule,
  ],
  [
    'GET',
    '',
    'Jobs and tasks by tenant and state: every tenant for those who see all',
    listTenants,
  ],
])
