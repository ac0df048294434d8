import { chatRefusal, type Installation, InstallationEntity } from '#shared/access/installations/index.ts'
import { AppEntity } from '#shared/catalogue/apps/index.ts'
import { VersionEntity } from '#shared/catalogue/versions/index.ts'
import { announceSpentBudget, spendDayBudget } from '#shared/foundation/limits/index.ts'
import type { Work, WorkWrite } from '#shared/foundation/work/index.ts'
import { newNotification } from '#shared/identity/notifications/index.ts'
import { WorkspaceEntity } from '#shared/identity/people/index.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { msg } from '#shared/kernel/messages.ts'
import { cleanName } from '#shared/kernel/names.ts'
import type { Write } from '#shared/table/entity.ts'
import { MESSENGER_TRIGGER, newRun } from '#shared/work/runs/index.ts'
import { type Account, accountPrivateTo, type Thread } from '#shared/work/threads/index.ts'
import type { ThreadMessage } from './entity.ts'

/**
 * Creates the run of the thread's agent, for the transaction of an incoming message. Empty when the thread has no agent
 * or the agent can't work now. Messages from outside are `external` (contract/agent-to-agent.md#audience). The run has
 * the conversation attached.
 * @throws the writes: `too_many_active_runs`, {@link OutsiderBudgetSpent}
 */
export const answeringRunWrites = async (
  work: Work,
  account: Account,
  { workspace_id, installation_id }: Thread,
  { id, conversation_id, text, author }: ThreadMessage,
): Promise<WorkWrite[]> => {
  if (installation_id === undefined) return []
  const [installation, workspace] = await work.table.getAll([
    InstallationEntity.ref({ workspace_id, id: installation_id }),
    WorkspaceEntity.ref({ id: workspace_id }),
  ] as const)
  if (installation?.status !== 'active' || workspace?.status !== 'active') return []
  if (chatRefusal(installation, workspace)) return []
  const app = await work.table.get(AppEntity, { id: installation.app_id })
  if (!app || app.status === 'suspended') return []
  const { writes } = await newRun(work, {
    installation,
    input: { text, message: { id, author }, conversation_id },
    trigger: MESSENGER_TRIGGER,
    chain: { audience: 'external' },
    conversation_id,
    private_to: accountPrivateTo(account),
  })
  return [...writes, ...(await outsiderBudgetWrites(work, installation, conversation_id))]
}

/** An inline agent has answered enough outsiders today. */
export class OutsiderBudgetSpent extends Error {
  override name = 'OutsiderBudgetSpent'
  readonly budget: string
  constructor(budget: string) {
    super(`the budget ${budget} is spent for today`)
    this.budget = budget
  }
}

/**
 * Returns the writes that pay for a run of an inline agent, which the platform's language model executes. Anyone who
 * finds the account can write to it, so each contact has a budget a day, and so have all contacts of the agent together.
 */
const outsiderBudgetWrites = async (
  { table, clock }: Work,
  { id, app_id, version_id }: Installation,
  conversationId: string,
): Promise<Write[]> => {
  const version = await table.get(VersionEntity, { app_id, id: version_id })
  if (version?.runtime_type !== 'inline') return []
  const spend = (name: string, limit: number) => spendDayBudget(clock, name, limit, () => new OutsiderBudgetSpent(name))
  return [
    spend(`contact:${conversationId}`, LIMITS.contactRunsPerDay),
    spend(`outsiders:${id}`, LIMITS.outsiderRunsPerDay),
  ]
}

/** Returns the writes that tell people once a day that a budget is spent. */
export const budgetSpentWrites = (
  work: Work,
  account: Account,
  { id, workspace_id, agent_name, title }: Thread,
  { budget }: OutsiderBudgetSpent,
  otherwise: () => unknown,
): Write[] => [
  announceSpentBudget(work.clock, budget, otherwise),
  ...newNotification(work, {
    workspace_id,
    user_id: accountPrivateTo(account),
    kind: 'messenger.budget',
    title:
      agent_name === undefined
        ? msg('The agent answers no more messages today')
        : msg('{agent} answers no more messages today', { agent: cleanName(agent_name) }),
    body: budget.startsWith('contact:')
      ? msg(
          '{contact} has used the {limit} answers that one contact gets in a day. Answer them yourself, or wait until tomorrow (UTC).',
          { contact: cleanName(title), limit: LIMITS.contactRunsPerDay },
        )
      : msg(
          'It has given the {limit} answers that an agent gives outsiders in a day. Answer them yourself, or wait until tomorrow (UTC).',
          { limit: LIMITS.outsiderRunsPerDay },
        ),
    target: { type: 'messenger_chat', id },
  }).writes,
]
