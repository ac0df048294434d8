import { t } from '../../../ui/messages.ts'

/** Events that the editor offers, each as the rest of a sentence that begins with “when”. */
export const EVENT_WORDS: Record<string, string> = {
  'task.created': t('a task is created'),
  'task.updated': t('a task changes'),
  'run.succeeded': t('a run succeeds'),
  'run.failed': t('a run fails'),
  'message.created': t('a message is written'),
  'custom.*': t('the agent reports something of its own'),
}
