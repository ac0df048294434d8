import { iso } from '../../../kernel/clock.ts'
import type { Executor } from './executor.ts'

export const workspaceInfo: Executor = async (_work, { workspace }) => ({
  result: {
    id: workspace.id,
    name: workspace.name,
    is_sandbox: workspace.is_sandbox,
    locale: workspace.locale,
    time_zone: workspace.time_zone,
    cross_agent_enabled: workspace.cross_agent_enabled,
    created_at: iso(workspace.created_at),
  },
  writes: [],
})
