import type { Deps } from '#shared/foundation/work/index.ts'
import { seal, unseal } from '#shared/kernel/encryption.ts'
import type { OutgoingRequest } from '#shared/kernel/ports/outgoing-http.ts'
import { sha256 } from '#shared/kernel/secrets.ts'
import { type ListenedMessage, ListenedMessageEntity } from './entity.ts'

type Keeping = Pick<Deps, 'keys' | 'objects'>

/** Sealed messages up to this many bytes are kept in the table. Webhook requests and their answers always fit. */
const IN_TABLE = 256 * 1_024

/** A request as it would be sent over the network. */
export interface RequestMessage extends Pick<OutgoingRequest, 'method' | 'url' | 'connectRetryPausesMs'> {
  /** Header names in lower case. */
  headers: Record<string, string>
  /** Base64. */
  body: string
}

/** A listener's answer, or the reason why none arrived. */
export type AnswerMessage =
  | { status: number; headers: Record<string, string> /** Base64. */; body: string; truncated: boolean }
  | { failure: 'connect' | 'timeout' | 'reset' | 'decode' }

interface Messages {
  request: RequestMessage
  answer: AnswerMessage
}

const recordOf = (id: string, part: keyof Messages): string => `listened-${part}:${id}`

/**
 * Seals a message for a record that is yet to be written. Messages too large for the table are stored in the bucket
 * first.
 */
export const sealMessage = async <P extends keyof Messages>(
  { keys, objects }: Keeping,
  { id, deadline_at }: { id: string; deadline_at: number },
  part: P,
  message: Messages[P],
): Promise<ListenedMessage> => {
  const sealed = await seal(await keys.data(), recordOf(id, part), JSON.stringify(message))
  const record = { request_id: id, part, deadline_at }
  if (sealed.length <= IN_TABLE) return { ...record, content: { sealed } }
  // Each attempt has its own key, so a late second answer doesn't overwrite the first.
  const object = `payloads/listening/${id}/${part}-${sha256(sealed)}`
  await objects.put(object, Buffer.from(sealed), 'application/jose')
  return { ...record, content: { object } }
}

/** Deletes the object that {@link sealMessage} stored for a record that was never written. */
export const discardMessage = async (
  { objects }: Pick<Deps, 'objects'>,
  { content }: Pick<ListenedMessage, 'content'>,
): Promise<void> => {
  if ('object' in content) await objects.delete(content.object)
}

/** @returns undefined when the message was deleted because its sender stopped waiting */
export const loadMessage = async <P extends keyof Messages>(
  { table, keys, objects }: Keeping & Pick<Deps, 'table'>,
  id: string,
  part: P,
): Promise<Messages[P] | undefined> => {
  const record = await table.get(ListenedMessageEntity, { request_id: id, part })
  if (!record) return undefined
  const { content } = record
  const bytes = 'sealed' in content ? undefined : await objects.get(content.object)
  const sealed = 'sealed' in content ? content.sealed : bytes && new TextDecoder().decode(bytes)
  return sealed === undefined ? undefined : JSON.parse(await unseal(await keys.data(), recordOf(id, part), sealed))
}

/** Deletes both messages. They hold secrets and aren't needed once the answer has been read. */
export const deleteMessages = async (
  { table, objects }: Pick<Deps, 'table' | 'objects'>,
  request_id: string,
): Promise<void> => {
  const parts = (['request', 'answer'] as const).map((part) => ({ request_id, part }))
  const records = await table.getAll(parts.map((part) => ListenedMessageEntity.ref(part)))
  for (const record of records) if (record) await discardMessage({ objects }, record)
  await table.transact(parts.map((part) => ListenedMessageEntity.delete(part)))
}
