import { refresh } from '../../../ui/data.ts'
import { api, unwrap } from '../api.ts'
import { pollNow } from '../live.ts'

/** Sends a message and shows it. */
export const say = async (
  id: string,
  body: { text: string; attachments: string[]; mention?: string },
): Promise<void> => {
  await unwrap(api.POST('/console/conversations/{id}/messages', { params: { path: { id } }, body }))
  await refresh('messages')
  pollNow()
}
