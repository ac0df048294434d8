/** The platform's address in samples and guides is the local run's; what is served names where it comes from. */
export const LOCAL_ADDRESS = 'http://127.0.0.1:3000'
