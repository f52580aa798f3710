// Region D: the acts of the phase, or the question of an irregularity.

/** Draw region D and the sheet for `screen`, the newest state, or null before the first. */
export function render(screen) {
}
