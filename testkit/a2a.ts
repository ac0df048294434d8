import { randomUUID } from 'node:crypto'
import { VersionEntity } from '#shared/catalogue/versions/entity.ts'
import { installed } from './fixtures.ts'
import type { TestPlatform } from './platform.ts'

/** Header of a request of version 1.0. */
export const A2A = { 'a2a-version': '1.0' }

/** A message that calls the tool `look`, and doesn't wait for it. */
export const looking = () => ({
  message: {
    messageId: randomUUID(),
    role: 'ROLE_USER',
    parts: [{ data: { skill: 'look', arguments: {} } }],
  },
  configuration: { returnImmediately: true },
})

/** Installs an agent that declares the tool `look`. @returns its path */
export const a2aAgent = async (
  { deps }: TestPlatform,
  options: { workspaceId: string; endpoint: string },
): Promise<{ at: string; id: string }> => {
  const { installation, version } = await installed(deps, options)
  const tools = [{ name: 'look', description: 'Looks.', input_schema: { type: 'object' } }]
  const manifest = { json: JSON.stringify({ id: version.agent_id, version: '1.0.0', name: 'Agent', tools }) }
  await deps.table.transact([VersionEntity.update(version, { set: { manifest } })])
  return { at: `/a2a/agents/${installation.id}`, id: installation.id }
}
