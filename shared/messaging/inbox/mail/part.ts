import type { WorkerWork } from '#shared/foundation/work/index.ts'
import { type Notification, textsInLanguage } from '#shared/identity/notifications/index.ts'
import type { Member } from '#shared/identity/people/index.ts'
import type { Translate } from '#shared/kernel/messages.ts'
import { quoteName } from '#shared/kernel/names.ts'
import type { Settings } from '#shared/kernel/settings.ts'
import { approverTest } from '#shared/work/approvals/index.ts'
import { loadOpenQuestions } from '#shared/work/questions/index.ts'
import { ApprovalEntity, RunEntity } from '#shared/work/runs/index.ts'
import type { MailPart } from './compose.ts'

const isApproval = ({ kind }: Pick<Notification, 'kind'>): boolean => kind === 'run.awaiting_approval'

/**
 * Returns false if a notification is no longer for this person: the call was decided, they may not decide it, or the question
 * was answered.
 */
export const isOpen = async (work: WorkerWork, notification: Notification, member: Member): Promise<boolean> => {
  const { kind, target, installation_id } = notification
  const { id: run_id = '', step_id } = target ?? {}
  if (step_id === undefined || installation_id === undefined) return true
  if (isApproval(notification)) {
    const [run, approval] = await work.table.getAll([
      RunEntity.ref({ installation_id, id: run_id }),
      ApprovalEntity.ref({ run_id, step_id }),
    ] as const)
    return run?.pending_step === step_id && approval !== undefined && (await approverTest(work, run, approval))(member)
  }
  if (kind !== 'agent.question') return true
  return Object.keys((await loadOpenQuestions(work, { run_id, step_id })) ?? {}).length > 0
}

/**
 * Presents a notification in an e-mail. Of a call that waits for approval, it doesn't say what is sent: that may hold what
 * doesn't belong into a mailbox, and nobody should decide by an excerpt.
 */
export const mailPart = (
  { baseUrl }: Pick<Settings, 'baseUrl'>,
  t: Translate,
  locale: string,
  notification: Notification,
  { agentName, workspaceName }: { agentName: string | undefined; workspaceName: string },
): MailPart => {
  const { title, body } = textsInLanguage(notification, locale)
  const names = [agentName, workspaceName].filter((name) => name !== undefined).map(quoteName)
  const { target, workspace_id } = notification
  const place = target ? `/open/${target.id}?in=${workspace_id}` : `/notifications?in=${workspace_id}`
  return {
    title,
    body: isApproval(notification) ? t('It waits for your decision. Open it to read the whole request.') : body,
    from: names.join(' · '),
    link: { url: `${baseUrl}/app#${place}`, text: t('Open in the console') },
  }
}
