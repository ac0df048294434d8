/** What the server wrote into the page: which of its two entries this is, and how one may sign in here. */
const { entry, localSignIn: local, loginWidget: widget } = document.body.dataset

/** Inside the messaging app. */
export const miniApp = entry === 'mini_app'
/** Anybody may sign in as anybody: local development. */
export const localSignIn = local === 'true'
/** The messenger's login widget can exist here; the page's policy allows it then. */
export const loginWidget = widget === 'true'

/** The nonce that stands for the request. */
export const tg = new URLSearchParams(location.search).get('tg') ?? ''

/** An address of the platform, which may lie below any path. */
export const at = (path: string): string => new URL((miniApp ? '../../' : '../') + path, location.href).href
