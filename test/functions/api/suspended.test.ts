import { expect, it } from 'vitest'
import { InstallationEntity } from '#shared/access/installations/entity.ts'
import { WorkspaceEntity } from '#shared/identity/people/entity.ts'
import { installed } from '#testkit/fixtures.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()

it.each<[what: string, helper: RegExp]>([
  ['installation', /^Contact platform support\./],
  ['workspace', /^Ask an owner of the workspace to contact platform support\./],
  ['deletion', /^Ask an owner of the workspace to cancel the deletion /],
])('installation_suspended names who can end it: %s', async (what, helper) => {
  const { token, installation, workspaceId } = await installed(platform.deps)
  await platform.deps.table.transact([
    what === 'installation'
      ? InstallationEntity.update(installation, { set: { status: 'suspended' } })
      : WorkspaceEntity.update(
          { id: workspaceId },
          { set: { status: what === 'workspace' ? 'suspended' : 'deleting' } },
        ),
  ])
  const { status, body } = await platform.call('GET', '/api/v1/me', { token })
  expect([status, body.error.code]).toEqual([403, 'installation_suspended'])
  expect(body.error.fix).toMatch(helper)
  expect(body.error.fix, 'admins of a workspace can’t').not.toMatch(/admin/)
})
