import { loadLastInstallations } from '#shared/access/installations/index.ts'
import type { Deps, Work } from '#shared/foundation/work/index.ts'
import { MemberEntity, type User, type Workspace, WorkspaceEntity } from '#shared/identity/people/index.ts'
import { iso } from '#shared/kernel/clock.ts'
import { fail } from '#shared/kernel/errors.ts'
import { auditPerson } from '#shared/staff/audit/index.ts'
import type { ItemOf } from '#shared/table/entity.ts'
import { missing } from '#shared/table/expressions.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import { ApprovalRulesEntity } from './entity.ts'
import type { NamedSince } from './match.ts'
import type { ApprovalRule } from './schemas.ts'

/** Loads a workspace's rules with their revision; none before the first change. */
export const loadRules = async (
  { table }: Pick<Deps, 'table'>,
  workspace_id: string,
): Promise<{ rules: ApprovalRule[]; named: NamedSince; revision: number }> => {
  const stored = await table.get(ApprovalRulesEntity, { workspace_id })
  return { rules: stored?.rules ?? [], named: stored?.named_since ?? {}, revision: stored?.revision ?? 0 }
}

/** Write that refuses a decision under rules that have changed in the meantime. */
export const rulesCheck = (workspaceId: string, revision: number) =>
  WorkspaceEntity.check({ id: workspaceId }, { where: { approval_rules: revision === 0 ? missing : revision } })

type RuledApps = Awaited<ReturnType<typeof loadLastInstallations>>

/** Loads the last installation of each app that rules name. */
const loadApps = (
  deps: Pick<Deps, 'table'>,
  workspace_id: string,
  rules: readonly ApprovalRule[],
): Promise<RuledApps> =>
  loadLastInstallations(
    deps,
    workspace_id,
    rules.flatMap(({ app_ids }) => app_ids),
  )

const present = (stored: ItemOf<typeof ApprovalRulesEntity> | undefined, apps: RuledApps) => ({
  rules: stored?.rules ?? [],
  apps: [...apps].map(([id, { app_name, status }]) => ({ id, name: app_name, is_installed: status !== 'revoked' })),
  revision: stored?.revision ?? 0,
  changed_by: stored?.changed_by ?? null,
  changed_at: stored ? iso(stored.changed_at) : null,
})

export const readRules = async (deps: Pick<Deps, 'table'>, workspace_id: string) => {
  const stored = await deps.table.get(ApprovalRulesEntity, { workspace_id })
  return present(stored, await loadApps(deps, workspace_id, stored?.rules ?? []))
}

/**
 * Replaces a workspace's rules. They apply to the next decision, also on calls that wait already.
 * @throws `conflict` for other rules than those read; `validation_error` for approvers who aren't members, or apps
 *   that the workspace never had
 */
export const setRules = (
  work: Work,
  { id: workspace_id }: Workspace,
  user: User,
  { rules, revision }: { rules: ApprovalRule[]; revision?: number | undefined },
) =>
  retryOnConflict(async () => {
    const [named_since, apps] = await Promise.all([
      loadNamed(work, workspace_id, rules),
      loadApps(work, workspace_id, rules),
    ])
    refuseUnknownApps(rules, apps)
    const before = await work.table.get(ApprovalRulesEntity, { workspace_id })
    const known = before?.revision ?? 0
    if (revision !== undefined && revision !== known) {
      throw fail('conflict', {
        message: 'The rules have changed since you read them.',
        fix: 'Read the rules again, and repeat your change.',
        details: { revision: known },
      })
    }
    const now = work.clock.now()
    const stored = {
      workspace_id,
      revision: known + 1,
      rules,
      named_since,
      changed_by: { id: user.id, name: user.name },
      changed_at: now,
    }
    const view = present(stored, apps)
    await work.commit(
      [
        ApprovalRulesEntity.replace(stored, { where: { revision: before ? known : missing } }),
        WorkspaceEntity.update({ id: workspace_id }, { set: { approval_rules: stored.revision } }),
        auditPerson(
          work,
          { workspaceId: workspace_id, userId: user.id },
          'workspace.approval_rules_changed',
          { type: 'workspace', id: workspace_id },
          { before: { rules: before?.rules ?? [] }, after: { rules } },
        ),
      ],
      view,
    )
    return view
  })

/** A rule about an app that the workspace never had would protect nothing. @throws `validation_error` */
const refuseUnknownApps = (rules: readonly ApprovalRule[], apps: RuledApps): void => {
  const unknown = [...new Set(rules.flatMap(({ app_ids }) => app_ids))].filter((id) => !apps.has(id))
  if (unknown.length === 0) return
  throw fail('validation_error', {
    message: `${unknown.join(', ')} was never installed in this workspace.`,
    details: { fields: { rules: ['names apps that the workspace never had'] } },
  })
}

/** Returns the start of the membership of each person whom the rules name. */
const loadNamed = async (
  { table }: Work,
  workspace_id: string,
  rules: readonly ApprovalRule[],
): Promise<NamedSince> => {
  const ids = [...new Set(rules.flatMap(({ approvers }) => approvers.user_ids))]
  const members = await table.getAll(ids.map((user_id) => MemberEntity.ref({ workspace_id, user_id })))
  const strangers = ids.filter((_, i) => members[i] === undefined)
  if (strangers.length === 0)
    return Object.fromEntries(members.flatMap((one) => (one ? [[one.user_id, one.joined_at]] : [])))
  throw fail('validation_error', {
    message: `${strangers.join(', ')} isn’t a member of this workspace.`,
    details: { fields: { rules: ['names approvers who aren’t members'] } },
  })
}
