import com.yahoo.labs.samoa.instances.Instance;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;
import moa.classifiers.Classifier;
import moa.core.Example;
import moa.options.ClassOption;
import moa.streams.ArffFileStream;

/**
 * One of MOA's learners over an ARFF file: every row is predicted before its label is seen. Prints log-loss, with the votes
 * as probabilities and the better of a floor of 1e-15 and a thousandth of uniform mixed in, error rate, rows, and seconds of
 * processor time of predicting and learning alone.
 *
 * <p>java -cp moa.jar Prequential.java "meta.AdaptiveRandomForest -s 30" rows.arff
 */
public class Prequential {
    public static void main(String[] arguments) throws Exception {
        Classifier learner = (Classifier) ClassOption.cliStringToObject(arguments[0], Classifier.class, null);
        ArffFileStream stream = new ArffFileStream(arguments[1], -1);
        stream.prepareForUse();
        learner.prepareForUse();
        learner.setModelContext(stream.getHeader());
        List<Example<Instance>> rows = new ArrayList<>();
        while (stream.hasMoreInstances()) {
            rows.add(stream.nextInstance());
        }
        int classes = stream.getHeader().numClasses();
        double floored = 0;
        double mixed = 0;
        long wrong = 0;
        // MOA's TimingUtils reads the clock on the wall unless it is told otherwise.
        ThreadMXBean clock = ManagementFactory.getThreadMXBean();
        long begin = clock.getCurrentThreadCpuTime();
        for (Example<Instance> row : rows) {
            double[] votes = learner.getVotesForInstance(row);
            int label = (int) row.getData().classValue();
            double sum = 0;
            int best = 0;
            for (int k = 0; k < votes.length; k++) {
                // Some learners vote with NaN before they have seen a class.
                votes[k] = votes[k] > 0 && !Double.isInfinite(votes[k]) ? votes[k] : 0;
                sum += votes[k];
                best = votes[k] > votes[best] ? k : best;
            }
            double truth = sum > 0 ? (label < votes.length ? votes[label] / sum : 0) : 1.0 / classes;
            floored -= Math.log(Math.max(truth, 1e-15));
            mixed -= Math.log(0.999 * truth + 0.001 / classes);
            wrong += best == label ? 0 : 1;
            learner.trainOnInstance(row);
        }
        double seconds = (clock.getCurrentThreadCpuTime() - begin) / 1e9;
        double n = rows.size();
        System.out.printf("%.17g %.17g %d %.6f%n", Math.min(floored, mixed) / n, wrong / n, rows.size(), seconds);
    }
}
