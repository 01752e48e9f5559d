/**
 * The parts of the page that the first view does not need, in one file, because several files would share modules and
 * compress worse.
 */
export { Butterfly } from '../butterfly/Butterfly';
export { GroupList } from '../calltree/GroupList';
export { Keys } from '../commands/Keys';
export { PathView } from '../critical_path/PathView';
export { HeatMap } from '../heat_map/HeatMap';
export { IntervalTable } from '../markers/IntervalTable';
export { MarkerChart } from '../markers/MarkerChart';
export { NoteList } from '../notes/NoteList';
export { ProcessTable } from '../processes/ProcessTable';
export { ShareForm } from '../save/ShareForm';
export { Facts } from '../summary/Facts';
export { Summary } from '../summary/Summary';
export { CpuLane, cpuTooltip } from '../timeline/cpu_lanes';
export { ComparedTable } from '../waits/ComparedTable';
export { WaitTable } from '../waits/WaitTable';
