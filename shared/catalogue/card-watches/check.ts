import type { Work } from '#shared/foundation/work/index.ts'
import { DeveloperEntity } from '#shared/identity/developers/index.ts'
import { nameInMail, newMail, unlink } from '#shared/identity/mails/index.ts'
import { brandSignature } from '#shared/kernel/brand.ts'
import { translator } from '#shared/kernel/messages.ts'
import { cleanName, cleanText } from '#shared/kernel/names.ts'
import { truncate } from '#shared/kernel/truncate.ts'
import { ifUnchanged, type Write } from '#shared/table/entity.ts'
import {
  type AgentCardPin,
  type CardProblem,
  type CardWatch,
  CardWatchEntity,
  CHECK_PAUSE,
  isSameCard,
  pinAgentCard,
} from '../agent-cards/index.ts'
import { type App, AppEntity } from '../apps/entity.ts'
import { type Version, VersionEntity } from '../versions/entity.ts'

/** Days without a usable card after which the developer is notified. */
const MOST_FAILURES = 3

/**
 * Looks at the card of an app's outside agent, and tells the developer if it isn't the one of the newest version anymore, once
 * for each change. Runs use the version's card all the same. It may be woken twice or late.
 */
export const checkCard = async (work: Work, app_id: string): Promise<void> => {
  const watch = await work.table.get(CardWatchEntity, { app_id })
  if (!watch || watch.check_at > work.clock.now()) return
  const [app, version] = await work.table.getAll([
    AppEntity.ref({ id: app_id }),
    VersionEntity.ref({ app_id, id: watch.version_id }),
  ] as const)
  const where = { version_id: watch.version_id, check_at: watch.check_at }
  if (!app || !version?.card) {
    await ifUnchanged(work.commit([CardWatchEntity.delete(watch, { where })]))
    return
  }
  const found = await pinAgentCard(work, watch.card_url)
  const failed = 'fix' in found ? watch.failed + 1 : 0
  const change = changeOf(work, watch, version.card, found, failed)
  const check_at = work.clock.now() + CHECK_PAUSE
  const isNews = change !== undefined && change !== watch.change
  await ifUnchanged(
    work.commit([
      CardWatchEntity.update(watch, { set: { check_at, due_at: check_at, failed, change } }, { where }),
      ...(isNews ? await mailWrites(work, app, version, change) : []),
    ]),
  )
}

type Change = NonNullable<CardWatch['change']>

/** @returns the known change itself if nothing is new about it */
const changeOf = (
  { clock }: Pick<Work, 'clock'>,
  { change: known }: CardWatch,
  published: AgentCardPin,
  found: AgentCardPin | CardProblem,
  failed: number,
): Change | undefined => {
  if ('fix' in found) {
    if (failed < MOST_FAILURES || known?.problem !== undefined) return known
    return { found_at: clock.now(), problem: truncate(found.message, 500) }
  }
  if (isSameCard(published, found)) return undefined
  if (known && known.content_sha256 === found.content_sha256) return known
  return { found_at: clock.now(), content_sha256: found.content_sha256 }
}

const mailWrites = async (work: Work, app: App, version: Version, change: Change): Promise<Write[]> => {
  const developer = await work.table.get(DeveloperEntity, { id: app.developer_id })
  if (work.settings.mailFrom === undefined || developer?.email_verified_at === undefined) return []
  const { baseUrl, brand } = work.settings
  const t = translator(developer.language)
  const [name, number] = [nameInMail(app.name), version.version]
  const text = [
    change.problem === undefined
      ? t('The A2A card of {name} has changed since you published version {number}.', { name, number })
      : `${t('The A2A card of {name} can’t be used anymore.', { name })} ${unlink(cleanText(change.problem))}`,
    t(
      'Runs still use the interface that the card named when you published version {number}. To use the card as it is now, publish another version.',
      { number },
    ),
    `${baseUrl}/developers#/apps/${app.id}/versions`,
    brandSignature(brand),
  ].join('\n\n')
  // The sweeper sends it.
  const { write } = await newMail(work, {
    to: developer.email,
    subject: `${t('The A2A card of {name} has changed', { name: cleanName(app.name) })} – ${brand.name}`,
    text,
  })
  return [write]
}
