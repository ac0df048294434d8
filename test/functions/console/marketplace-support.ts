import { AppEntity } from '#shared/catalogue/apps/entity.ts'
import { newApp, newDeveloper, publish, type TestApp, type TestDeveloper, unique } from '#testkit/developers.ts'
import { succeeded, type TestPlatform } from '#testkit/platform.ts'

export interface ListedApp {
  developer: TestDeveloper
  app: TestApp
  /** Publishes another version and promotes it, as if moderation had approved it. */
  release(version: string, fields?: Record<string, unknown>): Promise<void>
}

const ADMIN = { 'x-admin-key': 'local-admin-key' }

/** Publishes, promotes and approves an app, so that the marketplace lists it. */
export const listApp = async (
  platform: TestPlatform,
  fields: Record<string, unknown> = {},
  manifest: Record<string, unknown> = {},
): Promise<ListedApp> => {
  const developer = await newDeveloper(platform)
  const app = await newApp(developer, fields)
  const release = async (version: string, more: Record<string, unknown> = {}): Promise<void> => {
    const { id } = await succeeded(publish(developer, app, { version, ...more }))
    await platform.deps.table.transact([
      AppEntity.update(app, { set: { promoted_version: version, promoted_version_id: id } }),
    ])
  }
  await release('1.0.0', manifest)
  await platform.deps.table.transact([AppEntity.update(app, { set: { status: 'in_review' } })])
  const approve = () => moderate(platform, app, 'approve')
  const first = await approve()
  // The logo may have come while the moderator decided, who then decides again.
  await succeeded(first.status === 409 ? approve() : first)
  return { developer, app, release }
}

export const moderate = (platform: TestPlatform, { id }: { id: string }, action: string) =>
  platform.call('POST', `/admin/apps/${id}/${action}`, {
    headers: ADMIN,
    ...(action === 'suspend' && { body: { reason: 'It misbehaves.' } }),
  })

/** Signs a person in to a new workspace, or to the one of the given name. */
export const signIn = async (platform: TestPlatform, role = 'owner', workspace = unique('workspace')) => {
  const { body } = await platform.call('POST', '/console/session', { body: { user: unique('user'), workspace, role } })
  return body as { token: string; user: { id: string }; workspace: { id: string } }
}

/** Installs an app as a person with the required role. */
export const install = (platform: TestPlatform, token: string, { slug }: { slug: string }): Promise<{ id: string }> =>
  succeeded(platform.call('POST', '/console/installations', { token, body: { slug } }))
