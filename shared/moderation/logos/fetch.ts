import { sandboxRefusal } from '#shared/agents/egress/index.ts'
import { type App, AppEntity, imageHashes, isModerated, revisionLogoWrites } from '#shared/catalogue/apps/index.ts'
import {
  type FetchedLogo,
  hashLogo,
  isOnItsWay,
  type LogoFetch,
  LogoFetchEntity,
  logoObject,
  PLATFORM_LOGO,
} from '#shared/catalogue/logos/index.ts'
import type { WorkerWork } from '#shared/foundation/work/index.ts'
import { MINUTE } from '#shared/kernel/clock.ts'
import { readImageSize } from '#shared/kernel/image-size.ts'
import { PlatformIdentityEntity } from '#shared/staff/platform/index.ts'
import { ifUnchanged, type Write } from '#shared/table/entity.ts'
import { missing } from '#shared/table/expressions.ts'
import { judgeLogo } from '../review/checks/logo.ts'
import { visitLogo } from '../review/checks/visits.ts'

/** Delays before the next attempts. After the last one, the avatar stays until the address is set again. */
const DELAYS = [MINUTE, 10 * MINUTE, 60 * MINUTE]

/** An address without its image, and the writes that store the image in its place. */
interface Wanted {
  url: string
  /** The image that the new one replaces, if nobody else shows it. */
  replaces: FetchedLogo | undefined
  writes(logo: FetchedLogo): Write[]
}

/**
 * Fetches the images that an owner's logos lack, and stores those that pass the checks. It may be woken twice, run late, or
 * stop anywhere. An image is bound to the address that it came from: if that changed since, the image isn't used.
 */
export const fetchLogos = async (work: WorkerWork, owner: string): Promise<void> => {
  const fetch = await work.table.get(LogoFetchEntity, { owner })
  if (!fetch) return
  const { developerId, wanted } = await (owner === PLATFORM_LOGO ? wantedByPlatform(work) : wantedByApp(work, fetch))
  // Nothing else would lead to an image that is stored after this.
  const coming: string[] = []
  for (const hash of fetch.unused ?? []) {
    if (!(await removeUnused(work, owner, hash)) && isOnItsWay(work, fetch)) coming.push(hash)
  }
  let failed = false
  // Images that a death from here on would leave behind. The next attempt deletes them.
  const marked = new Set(coming)
  for (const one of wanted) failed = !(await fetchOne(work, fetch, developerId, one, marked)) || failed
  const delay = failed ? DELAYS[fetch.failed] : undefined
  const where = { id: fetch.id, failed: fetch.failed }
  await ifUnchanged(
    work.commit([
      delay === undefined
        ? coming.length > 0
          ? // The sweeper checks again once they must have been stored by the request that marked them.
            LogoFetchEntity.update({ owner }, { set: { unused: coming } }, { where })
          : LogoFetchEntity.delete({ owner }, { where })
        : LogoFetchEntity.update(
            { owner },
            { set: { failed: fetch.failed + 1, due_at: work.clock.now() + delay } },
            { where },
          ),
    ]),
  )
}

/** Fetches, checks and stores one image. @returns false if that failed */
const fetchOne = async (
  work: WorkerWork,
  { owner, id, failed }: LogoFetch,
  developerId: string,
  { url, replaces, writes }: Wanted,
  marked: Set<string>,
): Promise<boolean> => {
  // Accounts are free, so fetches have the budgets of sandboxes.
  if (await sandboxRefusal(work, { is_sandbox: true, workspace_id: developerId }, url)) return false
  const visit = await visitLogo(work, url)
  const { result } = visit
  if (result.kind === 'failure' || judgeLogo(visit).status === 'failed') return false
  const format = readImageSize(result.body)?.format
  if (!format) return false
  const logo = { url, hash: hashLogo(result.body) }
  const object = logoObject(owner, logo.hash)
  const store = () => work.objects.put(object, result.body, `image/${format}`)
  for (const hash of [logo.hash, replaces?.hash]) if (hash !== undefined) marked.add(hash)
  const mark = LogoFetchEntity.update({ owner }, { set: { unused: [...marked] } }, { where: { id, failed } })
  // A newer request does the same.
  if (!(await ifUnchanged(work.commit([mark])))) return false
  await store()
  const shown = await ifUnchanged(work.commit(writes(logo)))
  // Another worker may have deleted the same image in the meantime, because nobody showed it.
  if (shown && !(await work.objects.get(object))) await store()
  if (!shown) await removeUnused(work, owner, logo.hash)
  else if (replaces && replaces.hash !== logo.hash) await removeUnused(work, owner, replaces.hash)
  return true
}

/**
 * Deletes an image that its owner neither shows nor is about to show. The same bytes may be chosen again at the same time:
 * the worker that stores them checks again afterwards, and this one after the deletion, so one of the two restores them.
 * @returns false if there is no such image
 */
const removeUnused = async (work: WorkerWork, owner: string, hash: string): Promise<boolean> => {
  const object = logoObject(owner, hash)
  const bytes = await work.objects.get(object)
  if (!bytes) return false
  if (await isUsed(work, owner, hash)) return true
  await work.objects.delete(object)
  if (await isUsed(work, owner, hash)) await work.objects.put(object, bytes, `image/${readImageSize(bytes)?.format}`)
  return true
}

const isUsed = async ({ table }: Pick<WorkerWork, 'table'>, owner: string, hash: string): Promise<boolean> => {
  if (owner === PLATFORM_LOGO)
    return (await table.get(PlatformIdentityEntity, { name: 'pm-identity' }))?.logo?.hash === hash
  const app = await table.get(AppEntity, { id: owner })
  return app !== undefined && imageHashes(app).includes(hash)
}

/**
 * Lists what an app lacks: the image of its live address until it is approved, and that of the address that waits for
 * moderation. An approved app's image never changes in another way, so customers see what moderators saw.
 */
const wantedByApp = async (work: WorkerWork, { owner }: LogoFetch) => {
  const app = await work.table.get(AppEntity, { id: owner })
  if (!app) return { developerId: owner, wanted: [] }
  const { logo_url: live, logo, pending_revision: revision } = app
  const pending = revision?.changes.logo_url
  const wanted: Wanted[] = []
  if (live !== undefined && logo?.url !== live && !isModerated(app)) {
    wanted.push({
      url: live,
      replaces: logo,
      writes: (image) => liveWrites(work, app, image),
    })
  }
  if (revision && typeof pending === 'string' && revision.logo?.url !== pending) {
    wanted.push({
      url: pending,
      replaces: revision.logo?.hash === logo?.hash ? undefined : revision.logo,
      writes: (image) => revisionLogoWrites(work, app, revision, image),
    })
  }
  return { developerId: app.developer_id, wanted }
}

/** Also raises `updated_at`: a moderator who looked at the app before must look again. */
const liveWrites = (work: WorkerWork, { id, logo_url, approved_at }: App, logo: FetchedLogo): Write[] => [
  AppEntity.update(
    { id },
    { set: { logo, updated_at: work.clock.now() } },
    { where: { logo_url, approved_at: approved_at ?? missing } },
  ),
]

const wantedByPlatform = async (work: WorkerWork) => {
  const at = { name: 'pm-identity' }
  const { logo_url: url, logo } = (await work.table.get(PlatformIdentityEntity, at)) ?? {}
  const wanted: Wanted[] = []
  if (url !== undefined && logo?.url !== url) {
    wanted.push({
      url,
      replaces: logo,
      writes: (image) => [PlatformIdentityEntity.update(at, { set: { logo: image } }, { where: { logo_url: url } })],
    })
  }
  return { developerId: PLATFORM_LOGO, wanted }
}
